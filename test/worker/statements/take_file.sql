-- startTranscode (src/domain/transcode/start.ts) for useAsSource (src/domain/ingest.ts): makes an uploaded file the source of its track.

update "tracks"
set
  "duration" = iif(
    (
      tracks.files ->> '$.list[0][0]' is not null
      and tracks.files ->> '$.is_early' is null
    ),
    duration,
    0
  ),
  "file_name" = iif(
    (
      tracks.files ->> '$.list[0][0]' is not null
      and tracks.files ->> '$.is_early' is null
    ),
    file_name,
    coalesce(
      (
        select
          file_name
        from
          upload_handles
        where
          track_id = tracks.id
          and path = ?1
      ),
      tracks.file_name
    )
  ),
  "file_name_original" = iif(
    (
      tracks.files ->> '$.list[0][0]' is not null
      and tracks.files ->> '$.is_early' is null
    ),
    file_name_original,
    coalesce(
      (
        select
          file_name_original
        from
          upload_handles
        where
          track_id = tracks.id
          and path = ?2
      ),
      tracks.file_name_original
    )
  ),
  "status" = ?3,
  "progress" = ?4,
  "job_id" = ?5,
  "source_suffix" = ?6,
  "source_size" = ?7,
  "awaiting_upload" = ?8,
  "info" = iif(
    (
      status in ('processing', 'fallback_processing')
      and source_path is not null
      and not coalesce(tracks.files ->> '$.source' = tracks.source_suffix, 0)
    ),
    json_set(
      json_remove(info, '$.error'),
      '$.replaced_uploads',
      json(
        (
          select
            json_group_array(json(value))
          from
            (
              select
                value
              from
                (
                  select
                    key,
                    value
                  from
                    json_each(coalesce(info -> '$.replaced_uploads', '[]'))
                  union all
                  select
                    20,
                    json_object(
                      'file_name',
                      coalesce(
                        (
                          select
                            listed_name
                          from
                            upload_handles
                          where
                            track_id = tracks.id
                            and path = source_path
                        ),
                        tracks.file_name
                      ),
                      'size',
                      source_size
                    )
                  order by
                    key desc
                  limit
                    20
                )
              order by
                key
            )
        )
      )
    ),
    json_remove(info, '$.error', '$.replaced_uploads')
  ),
  "folded" = iif(
    (
      tracks.files ->> '$.list[0][0]' is not null
      and tracks.files ->> '$.is_early' is null
    ),
    folded,
    iif(
      (
        select
          file_name
        from
          upload_handles
        where
          track_id = tracks.id
          and path = ?9
      ) is null,
      folded,
      nullif(
        json_patch(
          coalesce(folded, '{}'),
          json_object(
            'file_name',
            (
              select
                folded_name
              from
                upload_handles
              where
                track_id = tracks.id
                and path = ?10
            )
          )
        ),
        '{}'
      )
    )
  ),
  "files" = iif(
    (
      tracks.files ->> '$.list[0][0]' is not null
      and tracks.files ->> '$.is_early' is null
    ),
    files,
    null
  )
where
  (
    "tracks"."id" = ?11
    and (
      "tracks"."id" = ?12
      and "tracks"."awaiting_upload" = ?13
      and coalesce(source_path, '') < ?14
      and upload_path >= ?15
      and not exists (
        select
          1
        from
          multipart_uploads
        where
          track_id = ?16
          and path = ?17
          and state = 'open'
      )
      and not exists (
        select
          1
        from
          upload_handles
        where
          track_id = tracks.id
          and path = ?18
          and state = 'abandoned'
      )
    )
    and not exists (
      select
        1
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
              and own_bytes < ?19,
              'max_bytes',
              iif(
                ?20
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
                      coalesce(sum(iif(track_id is ?21, 0, max(uploaded, iif(expires_at > ?22, reserved, 0)))), 0) + max(coalesce(sum(iif(track_id is ?23, max(uploaded, iif(expires_at > ?24, reserved, 0)), 0)), 0), ?25)
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
                      count(*) + ?26
                    from
                      reservations
                    where
                      upload_session_id = upload_sessions.id
                      and not (
                        ?27
                        and track_id is ?28
                      )
                  )
                ) as used_tracks,
                coalesce(
                  (
                    select
                      sum(max(uploaded, iif(expires_at > ?29, reserved, 0)))
                    from
                      reservations
                    where
                      upload_session_id = upload_sessions.id
                      and track_id is ?30
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
                      organization_id = ?31
                      and track_id = ?32
                  ),
                  ?33
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
                      organization_id = ?34
                      and track_id = ?35
                  ),
                  ?36
                ) * 4 as base,
                iif(
                  max_bytes is null,
                  null,
                  0 + (
                    select
                      coalesce(sum(iif(track_id is ?37, 0, max(uploaded, iif(expires_at > ?38, reserved, 0)))), 0) + max(coalesce(sum(iif(track_id is ?39, max(uploaded, iif(expires_at > ?40, reserved, 0)), 0)), 0), ?41)
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
                            organization_id = ?42
                            and track_id = ?43
                        ),
                        ?44
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
                      count(*) + ?45
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
                            organization_id = ?46
                            and track_id = ?47
                        ),
                        ?48
                      )
                      and api_key_id = api_keys.id
                      and upload_session_id is not null
                      and not (
                        ?49
                        and track_id is ?50
                      )
                  )
                ) as used_tracks,
                coalesce(
                  (
                    select
                      sum(max(uploaded, iif(expires_at > ?51, reserved, 0)))
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
                            organization_id = ?52
                            and track_id = ?53
                        ),
                        ?54
                      )
                      and api_key_id = api_keys.id
                      and upload_session_id is not null
                      and track_id is ?55
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
                      organization_id = ?56
                      and track_id = ?57
                  ),
                  ?58
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
                      organization_id = ?59
                  ) + (
                    select
                      coalesce(sum(iif(track_id is ?60, 0, trashed + max(unprocessed, iif(expires_at > ?61, reserved, 0)))), 0) + max(
                        coalesce(sum(iif(track_id is ?62, trashed + max(unprocessed, iif(expires_at > ?63, reserved, 0)), 0)), 0),
                        ?64
                      )
                    from
                      reservations
                    where
                      organization_id = ?65
                  )
                ) as used_bytes,
                null as used_tracks,
                coalesce(
                  (
                    select
                      sum(trashed + max(unprocessed, iif(expires_at > ?66, reserved, 0)))
                    from
                      reservations
                    where
                      organization_id = ?67
                      and track_id is ?68
                  ),
                  0
                ) as own_bytes
              from
                organizations
              where
                id = ?69
            )
        )
      where
        exceeded is not null
    )
  );

-- Query plan:
--   SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?)
--   SCALAR SUBQUERY 10
--     SEARCH multipart_uploads USING INDEX multipart_uploads_track (track_id=?)
--   CORRELATED SCALAR SUBQUERY 11
--     SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
--   SCALAR SUBQUERY 31
--     CO-ROUTINE (subquery-29)
--       COMPOUND QUERY
--         LEFT-MOST SUBQUERY
--           SEARCH upload_sessions USING INDEX sqlite_autoindex_upload_sessions_1 (id=?)
--           SCALAR SUBQUERY 15
--             SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 12
--             SEARCH reservations USING INDEX reservations_session (upload_session_id=?)
--           CORRELATED SCALAR SUBQUERY 14
--             SEARCH reservations USING INDEX reservations_session (upload_session_id=?)
--           CORRELATED SCALAR SUBQUERY 13
--             SEARCH reservations USING COVERING INDEX reservations_session (upload_session_id=?)
--           CORRELATED SCALAR SUBQUERY 12
--             SEARCH reservations USING INDEX reservations_session (upload_session_id=?)
--           CORRELATED SCALAR SUBQUERY 13
--             SEARCH reservations USING COVERING INDEX reservations_session (upload_session_id=?)
--           CORRELATED SCALAR SUBQUERY 14
--             SEARCH reservations USING INDEX reservations_session (upload_session_id=?)
--         UNION ALL
--           SEARCH api_keys USING INDEX sqlite_autoindex_api_keys_1 (id=?)
--           SCALAR SUBQUERY 24
--             SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 19
--             SEARCH reservations USING INDEX reservations_key (day=? AND api_key_id=?)
--             SCALAR SUBQUERY 18
--               SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 23
--             SEARCH reservations USING INDEX reservations_key (day=? AND api_key_id=?)
--             SCALAR SUBQUERY 22
--               SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 21
--             SEARCH reservations USING INDEX reservations_key (day=? AND api_key_id=?)
--             SCALAR SUBQUERY 20
--               SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 19
--             SEARCH reservations USING INDEX reservations_key (day=? AND api_key_id=?)
--             SCALAR SUBQUERY 18
--               SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 21
--             SEARCH reservations USING INDEX reservations_key (day=? AND api_key_id=?)
--             SCALAR SUBQUERY 20
--               SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           CORRELATED SCALAR SUBQUERY 23
--             SEARCH reservations USING INDEX reservations_key (day=? AND api_key_id=?)
--             SCALAR SUBQUERY 22
--               SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--         UNION ALL
--           SEARCH organizations USING INDEX sqlite_autoindex_organizations_1 (id=?)
--           SCALAR SUBQUERY 26
--             SEARCH usage_days USING PRIMARY KEY (organization_id=?)
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--           SCALAR SUBQUERY 27
--             SEARCH reservations USING PRIMARY KEY (organization_id=?)
--           SCALAR SUBQUERY 28
--             SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--           SCALAR SUBQUERY 26
--             SEARCH usage_days USING PRIMARY KEY (organization_id=?)
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--           SCALAR SUBQUERY 27
--             SEARCH reservations USING PRIMARY KEY (organization_id=?)
--           SCALAR SUBQUERY 28
--             SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--     SCAN (subquery-29)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
--   CORRELATED SCALAR SUBQUERY 7
--     CO-ROUTINE (subquery-6)
--       CO-ROUTINE (subquery-5)
--         MERGE (UNION ALL)
--           LEFT
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--             USE TEMP B-TREE FOR ORDER BY
--           RIGHT
--             SCAN CONSTANT ROW
--             CORRELATED SCALAR SUBQUERY 4
--               SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
--       SCAN (subquery-5)
--       USE TEMP B-TREE FOR ORDER BY
--     SCAN (subquery-6)
--   CORRELATED SCALAR SUBQUERY 8
--     SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
--   CORRELATED SCALAR SUBQUERY 9
--     SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
