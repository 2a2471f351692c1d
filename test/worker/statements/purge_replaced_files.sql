-- purgeLaterFrom (src/domain/cleanup/purge.ts) for finishTranscode: inserts the job that deletes the files replaced by a transcode.

insert into
  "jobs" (
    "id",
    "organization_id",
    "payload",
    "state",
    "attempt",
    "holder",
    "pass",
    "lease_until",
    "wake_at",
    "created_at",
    "error",
    "rank",
    "size_class",
    "slot",
    "tries",
    "is_background"
  )
select
  ?1 as "id",
  ?2 as "organization_id",
  json_object('kind', 'purge', 'prefixes', json(prefixes), 'paths', json(paths)) as "payload",
  ?3 as "state",
  ?4 as "attempt",
  ?5 as "holder",
  ?6 as "pass",
  ?7 as "lease_until",
  ?8 as "wake_at",
  ?9 as "created_at",
  ?10 as "error",
  ?11 as "rank",
  ?12 as "size_class",
  ?13 as "slot",
  ?14 as "tries",
  ?15 as "is_background"
from
  (
    select
      (
        select
          nullif(json_group_array(path), '[]')
        from
          (
            select
              path
            from
              (
                select
                  iif(
                    value ->> 0 = 'original',
                    'uploads/' || tracks."organization_id" || '/' || coalesce(tracks."folder_id", tracks."collection_id") || '/' || tracks."id" || (stored ->> '$.source'),
                    'media/' || tracks."organization_id" || '/' || coalesce(tracks."folder_id", tracks."collection_id") || '/' || tracks."index" || '/' || (stored ->> '$.base') || '/' || (value ->> 0)
                  ) as path
                from
                  (
                    select
                      tracks.files as stored
                  ) as listed,
                  json_each(stored, '$.list')
                union all
                select
                  iif(
                    value ->> 0 = 'original',
                    'uploads/' || tracks."organization_id" || '/' || coalesce(tracks."folder_id", tracks."collection_id") || '/' || tracks."id" || (stored ->> '$.source'),
                    'media/' || tracks."organization_id" || '/' || coalesce(tracks."folder_id", tracks."collection_id") || '/' || tracks."index" || '/' || (stored ->> '$.base') || '/' || (value ->> 0)
                  ) as path
                from
                  (
                    select
                      ?16 as stored
                  ) as listed,
                  json_each(stored, '$.list')
              )
            except
            select
              path
            from
              (
                select
                  iif(
                    value ->> 0 = 'original',
                    'uploads/' || tracks."organization_id" || '/' || coalesce(tracks."folder_id", tracks."collection_id") || '/' || tracks."id" || (stored ->> '$.source'),
                    'media/' || tracks."organization_id" || '/' || coalesce(tracks."folder_id", tracks."collection_id") || '/' || tracks."index" || '/' || (stored ->> '$.base') || '/' || (value ->> 0)
                  ) as path
                from
                  (
                    select
                      json_set(
                        ?17,
                        '$.list',
                        (
                          select
                            json_group_array(json(value))
                          from
                            json_each(?18, '$.list')
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
                      ) as stored
                  ) as listed,
                  json_each(stored, '$.list')
              )
          )
      ) as paths,
      '[]' as prefixes
    from
      tracks
    where
      (
        (
          "tracks"."id" = ?19
          and "tracks"."job_id" = ?20
        )
        and exists (
          select
            1
          from
            jobs
          where
            (
              "jobs"."id" = ?21
              and "jobs"."state" = ?22
              and "jobs"."holder" is ?23
            )
        )
      )
  )
where
  paths is not null
on conflict do nothing;

-- Query plan:
--   SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?)
--   CORRELATED SCALAR SUBQUERY 11
--     CO-ROUTINE (subquery-10)
--       MERGE (EXCEPT)
--         LEFT
--           MERGE (UNION ALL)
--             LEFT
--               CO-ROUTINE listed
--                 SCAN CONSTANT ROW
--               SCAN listed
--               SCAN json_each VIRTUAL TABLE INDEX 3:
--               USE TEMP B-TREE FOR ORDER BY
--             RIGHT
--               CO-ROUTINE listed
--                 SCAN CONSTANT ROW
--               SCAN listed
--               SCAN json_each VIRTUAL TABLE INDEX 3:
--               USE TEMP B-TREE FOR ORDER BY
--         RIGHT
--           CO-ROUTINE listed
--             SCAN CONSTANT ROW
--             SCALAR SUBQUERY 7
--               SCAN json_each VIRTUAL TABLE INDEX 3:
--               CORRELATED SCALAR SUBQUERY 6
--                 SEARCH variants USING COVERING INDEX sqlite_autoindex_variants_1 (id=?)
--           SCAN listed
--           SCAN json_each VIRTUAL TABLE INDEX 3:
--           USE TEMP B-TREE FOR ORDER BY
--     SCAN (subquery-10)
--   SEARCH jobs EXISTS USING INDEX sqlite_autoindex_jobs_1 (id=?)
--   CORRELATED SCALAR SUBQUERY 11
--     CO-ROUTINE (subquery-10)
--       MERGE (EXCEPT)
--         LEFT
--           MERGE (UNION ALL)
--             LEFT
--               CO-ROUTINE listed
--                 SCAN CONSTANT ROW
--               SCAN listed
--               SCAN json_each VIRTUAL TABLE INDEX 3:
--               USE TEMP B-TREE FOR ORDER BY
--             RIGHT
--               CO-ROUTINE listed
--                 SCAN CONSTANT ROW
--               SCAN listed
--               SCAN json_each VIRTUAL TABLE INDEX 3:
--               USE TEMP B-TREE FOR ORDER BY
--         RIGHT
--           CO-ROUTINE listed
--             SCAN CONSTANT ROW
--             SCALAR SUBQUERY 7
--               SCAN json_each VIRTUAL TABLE INDEX 3:
--               CORRELATED SCALAR SUBQUERY 6
--                 SEARCH variants USING COVERING INDEX sqlite_autoindex_variants_1 (id=?)
--           SCAN listed
--           SCAN json_each VIRTUAL TABLE INDEX 3:
--           USE TEMP B-TREE FOR ORDER BY
--     SCAN (subquery-10)
