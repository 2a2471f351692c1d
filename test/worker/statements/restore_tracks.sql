-- restoration (src/resources/library/restore_from_trash.ts): inserts the rows of tracks from the trash.

insert into
  "tracks" (
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
    "episode"
  )
select
  content ->> 'id' as "id",
  content ->> 'organization_id' as "organization_id",
  content ->> 'collection_id' as "collection_id",
  content ->> 'folder_id' as "folder_id",
  content ->> 'upload_session_id' as "upload_session_id",
  content ->> 'creator_id' as "creator_id",
  content ->> 'index' as "index",
  coalesce(content ->> 'duration', ?1) as "duration",
  content ->> 'file_name' as "file_name",
  content ->> 'file_name_original' as "file_name_original",
  content ->> 'organization_index' as "organization_index",
  iif(
    exists (
      select
        1
      from
        "tracks" as others
      where
        others."collection_id" = (content ->> 'collection_id')
        and others."order" = (content ->> 'order')
    )
    or row_number() over (
      partition by
        (content ->> 'collection_id'),
        (content ->> 'order')
      order by
        trash.seq
    ) > 1,
    max(
      coalesce(
        (
          select
            max(others."order")
          from
            "tracks" as others
          where
            others."collection_id" = (content ->> 'collection_id')
        ),
        0
      ),
      max((content ->> 'order')) over (
        partition by
          (content ->> 'collection_id')
      )
    ) + row_number() over (
      partition by
        (content ->> 'collection_id')
      order by
        (content ->> 'order'),
        trash.seq
    ),
    (content ->> 'order')
  ) as "order",
  content ->> 'metadata' as "metadata",
  coalesce(content ->> 'is_cover_overridable', ?2) as "is_cover_overridable",
  coalesce(content ->> 'is_theme_overridable', ?3) as "is_theme_overridable",
  content ->> 'player_title' as "player_title",
  content ->> 'player_color' as "player_color",
  content ->> 'player_subtitle' as "player_subtitle",
  content ->> 'cover_path' as "cover_path",
  content ->> 'cover_colors' as "cover_colors",
  content ->> 'cover_size' as "cover_size",
  iif(
    content ->> 'cover_path' is not null
    or exists (
      select
        1
      from
        jobs
      where
        id = content ->> 'cover_job_id'
        and state = 'open'
    ),
    content ->> 'cover_job_id',
    null
  ) as "cover_job_id",
  content ->> 'status' as "status",
  content ->> 'progress' as "progress",
  content ->> 'job_id' as "job_id",
  content ->> 'source_suffix' as "source_suffix",
  content ->> 'source_size' as "source_size",
  coalesce(content ->> 'upload_suffix', ?4) as "upload_suffix",
  iif(
    content ->> 'status' = 'initializing'
    and content ->> 'progress' is not null,
    ?5,
    content ->> 'upload_expires_at'
  ) as "upload_expires_at",
  content ->> 'awaiting_upload' as "awaiting_upload",
  ?6 as "next_check_at",
  content ->> 'created_at' as "created_at",
  content ->> 'updated_at' as "updated_at",
  content ->> 'info' as "info",
  content ->> 'tags' as "tags",
  content ->> 'folded' as "folded",
  content ->> 'made_with' as "made_with",
  iif(
    content ->> 'files' is null
    or (content ->> 'files') ->> '$.is_early' = 1,
    null,
    json_set(
      content ->> 'files',
      '$.list',
      (
        select
          json_group_array(json(value))
        from
          json_each(content ->> 'files', '$.list')
        where
          value ->> 4 is null
          or exists (
            select
              1
            from
              variants
            where
              id = value ->> 4
          )
      )
    )
  ) as "files",
  unhex (content ->> 'levels') as "levels",
  content ->> 'edited_tags' as "edited_tags",
  content ->> 'file_tags' as "file_tags",
  content ->> 'chapters' as "chapters",
  content ->> 'episode' as "episode"
from
  trash
where
  trash.id in (?7)
  and + trash.organization_id = ?8
  and trash.scope = ?9
  and exists (
    select
      1
    from
      collections
    where
      collections.id = trash.collection_id
  )
returning
  "id";

-- Query plan:
--   CO-ROUTINE (subquery-8)
--     CO-ROUTINE (subquery-9)
--       CO-ROUTINE (subquery-10)
--         SEARCH trash USING INDEX sqlite_autoindex_trash_1 (id=?)
--         SEARCH collections EXISTS USING COVERING INDEX sqlite_autoindex_collections_1 (id=?)
--       SCAN (subquery-10)
--     SCAN (subquery-9)
--     USE TEMP B-TREE FOR ORDER BY
--   SCAN (subquery-8)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH others USING COVERING INDEX tracks_list (collection_id=? AND order=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH others USING COVERING INDEX tracks_list (collection_id=?)
--   CORRELATED SCALAR SUBQUERY 3
--     SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)
--   CORRELATED SCALAR SUBQUERY 5
--     SCAN json_each VIRTUAL TABLE INDEX 3:
--     CORRELATED SCALAR SUBQUERY 4
--       SEARCH variants USING COVERING INDEX sqlite_autoindex_variants_1 (id=?)
