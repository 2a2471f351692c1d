-- addHandle (src/resources/library/upload_handle.ts): lets a track wait for the file of a new upload handle.

update "tracks"
set
  "file_name" = iif(source_path is null, ?1, file_name),
  "file_name_original" = iif(source_path is null, ?2, file_name_original),
  "status" = iif(source_path is null, 'initializing', status),
  "upload_suffix" = max(upload_suffix, ?3),
  "upload_expires_at" = max(upload_expires_at, ?4),
  "awaiting_upload" = ?5,
  "next_check_at" = ?6,
  "updated_at" = max(?7, coalesce(updated_at, created_at) + 1),
  "info" = iif(source_path is null, '{}', info),
  "folded" = iif(source_path is null, nullif(json_patch(coalesce(folded, '{}'), ?8), '{}'), folded)
where
  (
    "tracks"."id" = ?9
    and "tracks"."organization_id" = ?10
    and exists (
      select
        1
      from
        collections
      where
        collections.id = tracks.collection_id
    )
  )
  and exists (
    select
      1
    from
      reservations
    where
      organization_id = ?11
      and track_id = ?12
      and reserved >= ?13
      and expires_at >= ?14
  )
returning
  "id",
  "organization_id",
  "collection_id",
  "folder_id",
  "upload_session_id",
  "creator_id",
  "index",
  "duration",
  "file_name",
  "file_name_original",
  "organization_index",
  "order",
  "metadata",
  "is_cover_overridable",
  "is_theme_overridable",
  "player_title",
  "player_color",
  "player_subtitle",
  "cover_path",
  "cover_colors",
  "cover_size",
  "cover_job_id",
  "status",
  "progress",
  "job_id",
  "source_suffix",
  "source_size",
  "upload_suffix",
  "upload_expires_at",
  "awaiting_upload",
  "next_check_at",
  "created_at",
  "updated_at",
  "info",
  "tags",
  "folded",
  "made_with",
  "files",
  "levels",
  "edited_tags",
  "file_tags",
  "chapters",
  "episode",
  "source_path",
  "upload_path";

-- Query plan:
--   SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?)
--   SCALAR SUBQUERY 2
--     SEARCH reservations USING PRIMARY KEY (organization_id=? AND track_id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH collections USING COVERING INDEX sqlite_autoindex_collections_1 (id=?)
