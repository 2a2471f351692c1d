-- reserveUpload (src/domain/quota.ts): reserves the bytes of an upload unless a quota forbids it.

insert into
  "reservations" (
    "organization_id",
    "track_id",
    "upload_session_id",
    "api_key_id",
    "day",
    "reserved",
    "expires_at",
    "uploaded",
    "unprocessed",
    "trashed",
    "changes_level"
  )
select
  ?1 as "organization_id",
  ?2 as "track_id",
  ?3 as "upload_session_id",
  ?4 as "api_key_id",
  ?5 as "day",
  ?6 as "reserved",
  ?7 as "expires_at",
  ?8 as "uploaded",
  ?9 as "unprocessed",
  ?10 as "trashed",
  changes as "changes_level"
from
  (
    select
      count(exceeded) as exceeded,
      max(
        (
          level > quota_level
          and level % 4 > 0
          or scope = 'organization'
          and level = 0
          and quota_level > 0
        )
      ) as changes
    from
      (
        select
          scope,
          id,
          max_bytes,
          max_tracks,
          used_bytes,
          used_tracks,
          own_bytes,
          quota_level,
          base + max(
            coalesce((used_bytes * 5 >= max_bytes * 4) + (used_bytes >= max_bytes), 0),
            coalesce((used_tracks * 5 >= max_tracks * 4) + (used_tracks >= max_tracks), 0)
          ) as level,
          iif(
            used_bytes > max_bytes
            and own_bytes < ?11,
            'max_bytes',
            iif(
              ?12
              and used_tracks > max_tracks,
              'max_tracks',
              null
            )
          ) as exceeded
        from
          (
            select
              'upload_session' as scope,
              id,
              max_bytes,
              max_tracks,
              0 as quota_level,
              0 as base,
              iif(
                max_bytes is null,
                null,
                0 + (
                  select
                    coalesce(sum(iif(track_id is ?13, 0, max(uploaded, iif(expires_at > ?14, reserved, 0)))), 0) + max(coalesce(sum(iif(track_id is ?15, max(uploaded, iif(expires_at > ?16, reserved, 0)), 0)), 0), ?17)
                  from
                    reservations
                  where
                    upload_session_id = upload_sessions.id
                )
              ) as used_bytes,
              iif(
                max_tracks is null,
                null,
                (
                  select
                    count(*) + ?18
                  from
                    reservations
                  where
                    upload_session_id = upload_sessions.id
                    and not (
                      ?19
                      and track_id is ?20
                    )
                )
              ) as used_tracks,
              coalesce(
                (
                  select
                    sum(max(uploaded, iif(expires_at > ?21, reserved, 0)))
                  from
                    reservations
                  where
                    upload_session_id = upload_sessions.id
                    and track_id is ?22
                ),
                0
              ) as own_bytes
            from
              upload_sessions
            where
              id = coalesce(
                (
                  select
                    upload_session_id
                  from
                    reservations
                  where
                    organization_id = ?23
                    and track_id = ?24
                ),
                ?25
              )
            union all
            select
              'api_key' as scope,
              id,
              max_bytes,
              max_tracks,
              quota_level,
              coalesce(
                (
                  select
                    day
                  from
                    reservations
                  where
                    organization_id = ?26
                    and track_id = ?27
                ),
                ?28
              ) * 4 as base,
              iif(
                max_bytes is null,
                null,
                0 + (
                  select
                    coalesce(sum(iif(track_id is ?29, 0, max(uploaded, iif(expires_at > ?30, reserved, 0)))), 0) + max(coalesce(sum(iif(track_id is ?31, max(uploaded, iif(expires_at > ?32, reserved, 0)), 0)), 0), ?33)
                  from
                    reservations
                  where
                    day = coalesce(
                      (
                        select
                          day
                        from
                          reservations
                        where
                          organization_id = ?34
                          and track_id = ?35
                      ),
                      ?36
                    )
                    and api_key_id = api_keys.id
                    and upload_session_id is not null
                )
              ) as used_bytes,
              iif(
                max_tracks is null,
                null,
                (
                  select
                    count(*) + ?37
                  from
                    reservations
                  where
                    day = coalesce(
                      (
                        select
                          day
                        from
                          reservations
                        where
                          organization_id = ?38
                          and track_id = ?39
                      ),
                      ?40
                    )
                    and api_key_id = api_keys.id
                    and upload_session_id is not null
                    and not (
                      ?41
                      and track_id is ?42
                    )
                )
              ) as used_tracks,
              coalesce(
                (
                  select
                    sum(max(uploaded, iif(expires_at > ?43, reserved, 0)))
                  from
                    reservations
                  where
                    day = coalesce(
                      (
                        select
                          day
                        from
                          reservations
                        where
                          organization_id = ?44
                          and track_id = ?45
                      ),
                      ?46
                    )
                    and api_key_id = api_keys.id
                    and upload_session_id is not null
                    and track_id is ?47
                ),
                0
              ) as own_bytes
            from
              api_keys
            where
              id = coalesce(
                (
                  select
                    api_key_id
                  from
                    reservations
                  where
                    organization_id = ?48
                    and track_id = ?49
                ),
                ?50
              )
            union all
            select
              'organization' as scope,
              id,
              max_bytes,
              null as max_tracks,
              quota_level,
              0 as base,
              iif(
                max_bytes is null,
                null,
                (
                  select
                    coalesce(sum(value ->> 0), 0)
                  from
                    usage_days,
                    json_each(usage_days.files)
                  where
                    organization_id = ?51
                ) + (
                  select
                    coalesce(sum(iif(track_id is ?52, 0, trashed + max(unprocessed, iif(expires_at > ?53, reserved, 0)))), 0) + max(
                      coalesce(sum(iif(track_id is ?54, trashed + max(unprocessed, iif(expires_at > ?55, reserved, 0)), 0)), 0),
                      ?56
                    )
                  from
                    reservations
                  where
                    organization_id = ?57
                )
              ) as used_bytes,
              null as used_tracks,
              coalesce(
                (
                  select
                    sum(trashed + max(unprocessed, iif(expires_at > ?58, reserved, 0)))
                  from
                    reservations
                  where
                    organization_id = ?59
                    and track_id is ?60
                ),
                0
              ) as own_bytes
            from
              organizations
            where
              id = ?61
          )
      )
  ) as quotas
where
  exceeded = 0
  and true
  and exists (
    select
      1
    from
      tracks
    where
      (
        "tracks"."id" = ?62
        and "tracks"."organization_id" = ?63
        and exists (
          select
            1
          from
            collections
          where
            collections.id = tracks.collection_id
        )
      )
  )
on conflict ("reservations"."organization_id", "reservations"."track_id") do update
set
  "reserved" = max(iif(expires_at > ?64, reserved, 0), excluded.reserved),
  "expires_at" = max(expires_at, excluded.expires_at),
  "changes_level" = excluded.changes_level
returning
  "changes_level";

-- Query plan:
--   CO-ROUTINE quotas
--     CO-ROUTINE (subquery-18)
--       COMPOUND QUERY
--         LEFT-MOST SUBQUERY
--           SEARCH upload_sessions USING INDEX sqlite_autoindex_upload_sessions_1 (id=?)
--           SCALAR SUBQUERY 4
--             SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 1
--             SEARCH reservations USING INDEX reservations_session (upload_session_id=?)
--           CORRELATED SCALAR SUBQUERY 2
--             SEARCH reservations USING COVERING INDEX reservations_session (upload_session_id=?)
--           CORRELATED SCALAR SUBQUERY 3
--             SEARCH reservations USING INDEX reservations_session (upload_session_id=?)
--         UNION ALL
--           SEARCH api_keys USING INDEX sqlite_autoindex_api_keys_1 (id=?)
--           SCALAR SUBQUERY 13
--             SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           SCALAR SUBQUERY 6
--             SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 8
--             SEARCH reservations USING INDEX reservations_key (day=? AND api_key_id=?)
--             SCALAR SUBQUERY 7
--               SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 10
--             SEARCH reservations USING INDEX reservations_key (day=? AND api_key_id=?)
--             SCALAR SUBQUERY 9
--               SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 12
--             SEARCH reservations USING INDEX reservations_key (day=? AND api_key_id=?)
--             SCALAR SUBQUERY 11
--               SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--         UNION ALL
--           SEARCH organizations USING INDEX sqlite_autoindex_organizations_1 (id=?)
--           SCALAR SUBQUERY 15
--             SEARCH usage_days USING PRIMARY KEY (organization_id=?)
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--           SCALAR SUBQUERY 16
--             SEARCH reservations USING PRIMARY KEY (organization_id=?)
--           SCALAR SUBQUERY 17
--             SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--     SCAN (subquery-18)
--   SCAN quotas
--   SEARCH tracks EXISTS USING INDEX sqlite_autoindex_tracks_1 (id=?)
--   CORRELATED SCALAR SUBQUERY 21
--     SEARCH collections USING COVERING INDEX sqlite_autoindex_collections_1 (id=?)
