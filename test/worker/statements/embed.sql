-- embedRows (src/adapters/db/play/embed_rows.ts): reads what a session shows before it plays.

select
  play_sessions."organization_id" as "session_organization_id",
  play_sessions."scope" as "session_scope",
  play_sessions."resource_id" as "session_resource_id",
  coalesce(play_sessions.expires_at, 9e15) as "session_expires_at",
  null as "session_allowed_origins",
  null as "session_slug",
  null as "session_password_hash",
  tracks."file_name" as "track_file_name",
  tracks."player_title" as "track_player_title",
  tracks."tags" as "track_tags",
  tracks."episode" as "track_episode",
  tracks."created_at" as "track_created_at",
  tracks."player_color" as "track_player_color",
  tracks."player_subtitle" as "track_player_subtitle",
  tracks."cover_path" as "track_cover_path",
  tracks."cover_size" as "track_cover_size",
  tracks."cover_colors" as "track_cover_colors",
  iif(tracks.cover_path is null, hex(tracks.levels), null) as "track_levels",
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
    when collections.cover_path is null then (
      select
        json_object(
          'cover_path',
          iif(
            collections.is_cover_overridable
            and organizations.is_cover_overridable
            and organizations.uses_tags,
            cover_path,
            null
          ),
          'levels',
          iif(
            collections.is_cover_overridable
            and organizations.is_cover_overridable
            and organizations.uses_tags
            and cover_path is not null,
            null,
            hex(levels)
          ),
          'cover_colors',
          json(cover_colors),
          'cover_size',
          cover_size
        )
      from
        tracks as places
      where
        places.collection_id = collections.id
      order by
        places."order"
      limit
        1
    )
  end as "collection_first",
  playlists."title" as "playlist_title",
  playlists."theme" as "playlist_theme",
  playlists."player_color" as "playlist_player_color",
  playlists."player_subtitle" as "playlist_player_subtitle",
  playlists."cover_path" as "playlist_cover_path",
  playlists."cover_size" as "playlist_cover_size",
  playlists."cover_colors" as "playlist_cover_colors",
  case
    when playlists.cover_path is null then (
      select
        hex(listed.levels)
      from
        playlist_tracks as places
        join tracks as listed on listed.id = places.track_id
      where
        places.playlist_id = playlists.id
      order by
        places.position
      limit
        1
    )
  end as "playlist_levels",
  organizations."id" as "organization_id",
  organizations."name" as "organization_name",
  organizations."player_color" as "organization_player_color",
  organizations."player_subtitle" as "organization_player_subtitle",
  organizations."is_cover_overridable" as "organization_is_cover_overridable",
  organizations."is_theme_overridable" as "organization_is_theme_overridable",
  organizations."uses_tags" as "organization_uses_tags"
from
  play_sessions
  left join tracks on play_sessions.scope = 'track'
  and tracks.id = play_sessions.resource_id
  left join collections on collections.id = iif(play_sessions.scope = 'collection', play_sessions.resource_id, tracks.collection_id)
  left join playlists on play_sessions.scope = 'playlist'
  and playlists.id = play_sessions.resource_id
  left join organizations on organizations.id = play_sessions.organization_id
where
  play_sessions.id = ?1;

-- Query plan:
--   SEARCH play_sessions USING PRIMARY KEY (id=?)
--   SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?) LEFT-JOIN
--   SEARCH collections USING INDEX sqlite_autoindex_collections_1 (id=?) LEFT-JOIN
--   SEARCH playlists USING INDEX sqlite_autoindex_playlists_1 (id=?) LEFT-JOIN
--   SEARCH organizations USING INDEX sqlite_autoindex_organizations_1 (id=?) LEFT-JOIN
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH places USING INDEX tracks_list (collection_id=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH places USING INDEX playlist_tracks_list (playlist_id=?)
--     SEARCH listed USING INDEX sqlite_autoindex_tracks_1 (id=?)
