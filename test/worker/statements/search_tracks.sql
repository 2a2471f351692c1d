-- pageQuery (src/resources/list/filtered_list.ts): reads a page of the tracks that match a search.

select
  "tracks"."id",
  "tracks"."organization_id",
  "tracks"."collection_id",
  "tracks"."upload_session_id",
  "tracks"."creator_id",
  "tracks"."index",
  "tracks"."duration",
  "tracks"."file_name",
  "tracks"."file_name_original",
  "tracks"."organization_index",
  "tracks"."order",
  "tracks"."metadata",
  "tracks"."is_cover_overridable",
  "tracks"."is_theme_overridable",
  "tracks"."player_title",
  "tracks"."player_color",
  "tracks"."player_subtitle",
  "tracks"."cover_path",
  "tracks"."cover_colors",
  "tracks"."cover_size",
  "tracks"."cover_job_id",
  "tracks"."status",
  "tracks"."progress",
  "tracks"."job_id",
  "tracks"."source_suffix",
  "tracks"."source_size",
  "tracks"."upload_suffix",
  "tracks"."upload_expires_at",
  "tracks"."awaiting_upload",
  "tracks"."next_check_at",
  "tracks"."created_at",
  "tracks"."updated_at",
  "tracks"."tags",
  "tracks"."episode",
  "tracks"."source_path",
  "tracks"."upload_path",
  "tracks"."id" || '.' || created_at as "position",
  total as "total",
  iif(
    total < ?1,
    (
      select
        "tracks"."id" || '.' || created_at
      from
        "tracks"
      where
        "tracks".rowid = (
          select
            at
          from
            (
              select
                rowid / 4 as at
              from
                (
                  select
                    rowid
                  from
                    search
                  where
                    search match ?2
                  union
                  select
                    rowid
                  from
                    search_titles
                  where
                    search_titles match ?3
                  order by
                    rowid desc
                )
            )
          limit
            1
          offset
            ?4
        )
    ),
    null
  ) as "rest",
  hits >= ?5
  and ?6 as "is_full"
from
  (
    select
      json_group_array(at) filter (
        where
          is_listed
          and is_later
      ) as ats,
      count(*) filter (
        where
          is_listed
      ) as total,
      count(*) as hits
    from
      (
        select
          hit.at,
          1 as is_listed,
          1 as is_later
        from
          (
            select
              rowid / 4 as at
            from
              (
                select
                  rowid
                from
                  search
                where
                  search match ?7
                union
                select
                  rowid
                from
                  search_titles
                where
                  search_titles match ?8
                order by
                  rowid desc
              )
            limit
              ?9
          ) as hit
          cross join "tracks"
        where
          "tracks".rowid = hit.at
          and (
            + "tracks"."organization_id" = ?10
            and "status" = ?11
            and exists (
              select
                1
              from
                collections
              where
                collections.id = tracks.collection_id
            )
          )
        limit
          ?12
      )
  ) as found
  left join json_each(?13) as place on place.value < total
  left join "tracks" on "tracks".rowid = ats ->> ('$[' || place.value || ']')
order by
  place.key;

-- Query plan:
--   CO-ROUTINE found
--     CO-ROUTINE (subquery-10)
--       CO-ROUTINE hit
--         CO-ROUTINE (subquery-7)
--           MERGE (UNION)
--             LEFT
--               SCAN search VIRTUAL TABLE INDEX 192:M2
--             RIGHT
--               SCAN search_titles VIRTUAL TABLE INDEX 192:M2
--         SCAN (subquery-7)
--       SCAN hit
--       SEARCH tracks USING INTEGER PRIMARY KEY (rowid=?)
--       SEARCH collections EXISTS USING COVERING INDEX sqlite_autoindex_collections_1 (id=?)
--     SCAN (subquery-10)
--   SCAN found
--   SCAN place VIRTUAL TABLE INDEX 1: LEFT-JOIN
--   SEARCH tracks USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN
--   SCALAR SUBQUERY 5
--     SEARCH tracks USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--       CO-ROUTINE (subquery-2)
--         MERGE (UNION)
--           LEFT
--             SCAN search VIRTUAL TABLE INDEX 192:M2
--           RIGHT
--             SCAN search_titles VIRTUAL TABLE INDEX 192:M2
--       SCAN (subquery-2)
--   USE TEMP B-TREE FOR ORDER BY
