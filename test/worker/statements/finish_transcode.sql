-- finishTranscode (src/background/transcode/result.ts): writes the result of a transcode into its track.

update "tracks"
set
  "duration" = ?1,
  "file_name" = coalesce(
    (
      select
        file_name
      from
        upload_handles
      where
        track_id = tracks.id
        and path = source_path
    ),
    tracks.file_name
  ),
  "file_name_original" = coalesce(
    (
      select
        file_name_original
      from
        upload_handles
      where
        track_id = tracks.id
        and path = source_path
    ),
    tracks.file_name_original
  ),
  "status" = ?2,
  "progress" = ?3,
  "info" = json_patch(?4, json_object('replaced_uploads', info -> '$.replaced_uploads')),
  "folded" = iif(
    (
      select
        file_name
      from
        upload_handles
      where
        track_id = tracks.id
        and path = source_path
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
              and path = source_path
          )
        )
      ),
      '{}'
    )
  ),
  "made_with" = ?5,
  "files" = json_set(
    ?6,
    '$.list',
    (
      select
        json_group_array(json(value))
      from
        json_each(?7, '$.list')
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
  ),
  "levels" = ?8
where
  (
    (
      "tracks"."id" = ?9
      and "tracks"."job_id" = ?10
    )
    and exists (
      select
        1
      from
        jobs
      where
        (
          "jobs"."id" = ?11
          and "jobs"."state" = ?12
          and "jobs"."holder" is ?13
        )
    )
  );

-- Query plan:
--   SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?)
--   SCALAR SUBQUERY 7
--     SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
--   CORRELATED SCALAR SUBQUERY 3
--     SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
--   CORRELATED SCALAR SUBQUERY 4
--     SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
--   SCALAR SUBQUERY 6
--     SCAN json_each VIRTUAL TABLE INDEX 3:
--     CORRELATED SCALAR SUBQUERY 5
--       SEARCH variants USING COVERING INDEX sqlite_autoindex_variants_1 (id=?)
