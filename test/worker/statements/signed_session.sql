-- signedRows.first (src/adapters/db/play/signed_rows.ts): the same for a signed play session, with the state of its key.

select
  sessions."id" as "session_id",
  sessions."organization_id" as "session_organization_id",
  sessions."scope" as "session_scope",
  sessions."resource_id" as "session_resource_id",
  sessions."variants" as "session_variants",
  sessions."is_downloadable" as "session_is_downloadable",
  sessions."expires_at" as "session_expires_at",
  sessions."allowed_origins" as "session_allowed_origins",
  sessions."last_used_at" as "session_last_used_at",
  sessions."listener_key" as "session_listener_key",
  sessions."slug" as "session_slug",
  sessions."password_hash" as "session_password_hash",
  tracks."id" as "track_id",
  tracks."organization_id" as "track_organization_id",
  tracks."collection_id" as "track_collection_id",
  tracks."folder_id" as "track_folder_id",
  tracks."index" as "track_index",
  tracks."duration" as "track_duration",
  tracks."file_name" as "track_file_name",
  tracks."order" as "track_order",
  tracks."metadata" as "track_metadata",
  tracks."is_cover_overridable" as "track_is_cover_overridable",
  tracks."is_theme_overridable" as "track_is_theme_overridable",
  tracks."player_title" as "track_player_title",
  tracks."player_subtitle" as "track_player_subtitle",
  tracks."player_color" as "track_player_color",
  tracks."cover_path" as "track_cover_path",
  tracks."cover_size" as "track_cover_size",
  tracks."cover_colors" as "track_cover_colors",
  tracks."status" as "track_status",
  hex(tracks.levels) as "track_levels",
  iif(
    tracks.chapters is null,
    coalesce(tracks.info -> '$.facts[11]', tracks.info -> '$.chapters', '[]'),
    (
      select
        json_group_array(json(value))
      from
        json_each(tracks.chapters)
      where
        tracks.duration = 0
        or value ->> 'start' < tracks.duration
    )
  ) as "track_chapters",
  tracks."files" as "track_files",
  tracks."tags" as "track_tags",
  coalesce(tracks.info ->> '$.facts[0]', tracks.info ->> '$.container') as "track_container",
  collections."title" as "collection_title",
  collections."theme" as "collection_theme",
  collections."player_color" as "collection_player_color",
  collections."player_subtitle" as "collection_player_subtitle",
  collections."cover_path" as "collection_cover_path",
  collections."cover_size" as "collection_cover_size",
  collections."cover_colors" as "collection_cover_colors",
  collections."is_cover_overridable" as "collection_is_cover_overridable",
  collections."is_theme_overridable" as "collection_is_theme_overridable",
  case
    when tracks.cover_path is null then case
      when collections.cover_path is null
      and collections.is_cover_overridable
      and organizations.is_cover_overridable
      and organizations.uses_tags then (
        select
          json_object('cover_path', cover_path, 'cover_colors', json(cover_colors), 'cover_size', cover_size)
        from
          tracks as places
        where
          places.collection_id = collections.id
        order by
          places."order"
        limit
          1
      )
    end
  end as "collection_first",
  playlists."title" as "playlist_title",
  playlists."theme" as "playlist_theme",
  playlists."player_color" as "playlist_player_color",
  playlists."player_subtitle" as "playlist_player_subtitle",
  playlists."cover_path" as "playlist_cover_path",
  playlists."cover_size" as "playlist_cover_size",
  playlists."cover_colors" as "playlist_cover_colors",
  organizations."theme" as "organization_theme",
  organizations."player_color" as "organization_player_color",
  organizations."player_subtitle" as "organization_player_subtitle",
  organizations."is_cover_overridable" as "organization_is_cover_overridable",
  organizations."is_theme_overridable" as "organization_is_theme_overridable",
  organizations."uses_tags" as "organization_uses_tags",
  organizations."listening_shards" as "organization_listening_shards"
from
  (
    select
      id,
      organization_id,
      ?1 as scope,
      iif(
        case ?1
          when 'track' then exists (
            select
              1
            from
              tracks
              join collections on collections.id = tracks.collection_id
            where
              tracks.id = ?2
              and tracks.organization_id = signer.organization_id
              and tracks.id = coalesce(signer.track_id, tracks.id)
              and collections.id = coalesce(signer.collection_id, collections.id)
              and (
                signer.playlist_id is null
                or exists (
                  select
                    1
                  from
                    playlist_tracks
                  where
                    track_id = tracks.id
                    and playlist_id = signer.playlist_id
                )
              )
          )
          when 'collection' then signer.track_id is null
          and signer.playlist_id is null
          and exists (
            select
              1
            from
              collections
            where
              id = ?2
              and organization_id = signer.organization_id
              and id = coalesce(signer.collection_id, id)
          )
          else signer.track_id is null
          and signer.collection_id is null
          and exists (
            select
              1
            from
              playlists
            where
              id = ?2
              and organization_id = signer.organization_id
              and id = coalesce(signer.playlist_id, id)
          )
        end,
        ?2,
        null
      ) as resource_id,
      variants,
      ?3
      and is_downloadable as is_downloadable,
      min(?4, coalesce(expires_at / 1000 * 1000, ?4)) as expires_at,
      allowed_origins,
      last_used_at,
      iif(
        ?5,
        (
          select
            listener_key
          from
            organizations
          where
            id = signer.organization_id
        ),
        null
      ) as listener_key,
      null as slug,
      null as password_hash
    from
      api_keys as signer
    where
      id = ?6
      and type = 'signing'
      and (
        hash = ?7
        or previous_hash = ?7
        and previous_expires_at > ?8
      )
      and coalesce(expires_at, 9e15) > ?8
    limit
      1
  ) as sessions
  left join tracks on tracks.id = case sessions.scope
    when 'track' then (
      select
        tracks.id
      from
        tracks
      where
        tracks.id = sessions.resource_id
        and (
          tracks.files ->> '$.list[0][0]' is not null
          and tracks.files ->> '$.is_early' is null
        )
      order by
        tracks.id
      limit
        1
    )
    when 'collection' then (
      select
        tracks.id
      from
        tracks
      where
        tracks.collection_id = sessions.resource_id
        and (
          tracks.files ->> '$.list[0][0]' is not null
          and tracks.files ->> '$.is_early' is null
        )
      order by
        tracks."order"
      limit
        1
    )
    else (
      select
        tracks.id
      from
        playlist_tracks as places
        join tracks on tracks.id = places.track_id
      where
        places.playlist_id = sessions.resource_id
        and (
          tracks.files ->> '$.list[0][0]' is not null
          and tracks.files ->> '$.is_early' is null
        )
      order by
        places.position
      limit
        1
    )
  end
  and + tracks.organization_id = sessions.organization_id
  and case sessions.scope
    when 'track' then tracks.id = sessions.resource_id
    when 'collection' then tracks.collection_id = sessions.resource_id
    else exists (
      select
        1
      from
        playlist_tracks
      where
        track_id = tracks.id
        and playlist_id = sessions.resource_id
    )
  end
  left join collections on collections.id = iif(sessions.scope = 'collection', sessions.resource_id, tracks.collection_id)
  left join playlists on sessions.scope = 'playlist'
  and playlists.id = sessions.resource_id
  left join organizations on organizations.id = sessions.organization_id;

-- Query plan:
--   CO-ROUTINE sessions
--     SEARCH signer USING INDEX sqlite_autoindex_api_keys_1 (id=?)
--     CORRELATED SCALAR SUBQUERY 4
--       SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?)
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH playlist_tracks USING COVERING INDEX playlist_tracks_track (track_id=? AND playlist_id=?)
--       SEARCH collections USING COVERING INDEX sqlite_autoindex_collections_1 (id=?)
--     CORRELATED SCALAR SUBQUERY 5
--       SEARCH collections USING INDEX sqlite_autoindex_collections_1 (id=?)
--     CORRELATED SCALAR SUBQUERY 6
--       SEARCH playlists USING INDEX sqlite_autoindex_playlists_1 (id=?)
--     CORRELATED SCALAR SUBQUERY 7
--       SEARCH organizations USING INDEX sqlite_autoindex_organizations_1 (id=?)
--   SCAN sessions
--   SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?) LEFT-JOIN
--   CORRELATED SCALAR SUBQUERY 9
--     SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?)
--   CORRELATED SCALAR SUBQUERY 10
--     SEARCH tracks USING INDEX tracks_list (collection_id=?)
--   CORRELATED SCALAR SUBQUERY 11
--     SEARCH places USING INDEX playlist_tracks_list (playlist_id=?)
--     SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?)
--   CORRELATED SCALAR SUBQUERY 12
--     SEARCH playlist_tracks USING COVERING INDEX playlist_tracks_track (track_id=? AND playlist_id=?)
--   SEARCH collections USING INDEX sqlite_autoindex_collections_1 (id=?) LEFT-JOIN
--   SEARCH playlists USING INDEX sqlite_autoindex_playlists_1 (id=?) LEFT-JOIN
--   SEARCH organizations USING INDEX sqlite_autoindex_organizations_1 (id=?) LEFT-JOIN
--   CORRELATED SCALAR SUBQUERY 1
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH places USING INDEX tracks_list (collection_id=?)
