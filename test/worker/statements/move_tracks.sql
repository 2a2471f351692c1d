-- moveStatements (src/resources/edit/track_move.ts): orders the tracks that move to other collections.

update "tracks"
set
  "order" = place
from
  (
    select
      moved_id,
      iif(
        goal_order is not null
        and not exists (
          select
            1
          from
            tracks as other
          where
            other.collection_id = goal_id
            and other."order" = goal_order
        )
        and row_number() over (
          partition by
            goal_id,
            goal_order
          order by
            n
        ) = 1,
        goal_order,
        max(
          coalesce(
            (
              select
                max(other."order")
              from
                tracks as other
              where
                other.collection_id = goal_id
            ),
            0
          ),
          coalesce(
            max(goal_order) over (
              partition by
                goal_id
            ),
            0
          )
        ) + row_number() over (
          partition by
            goal_id
          order by
            n
        )
      ) as place
    from
      (
        select
          value ->> 'track_id' as moved_id,
          value ->> 'collection_id' as goal_id,
          value ->> 'order' as goal_order,
          key as n
        from
          json_each(?1)
      ) as goal
      cross join tracks
    where
      exists (
        select
          1
        from
          collections
        where
          collections.id = tracks.collection_id
      )
      and tracks.id = moved_id
      and + tracks.organization_id = ?2
      and tracks.collection_id <> goal_id
      and exists (
        select
          1
        from
          collections
        where
          collections.id = goal_id
      )
  ) as placed
where
  tracks.id = moved_id;

-- Query plan:
--   MATERIALIZE placed
--     CO-ROUTINE (subquery-8)
--       CO-ROUTINE (subquery-9)
--         CO-ROUTINE (subquery-10)
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--           SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?)
--           SEARCH collections EXISTS USING COVERING INDEX sqlite_autoindex_collections_1 (id=?)
--           SEARCH collections EXISTS USING COVERING INDEX sqlite_autoindex_collections_1 (id=?)
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN (subquery-10)
--       SCAN (subquery-9)
--       USE TEMP B-TREE FOR ORDER BY
--     SCAN (subquery-8)
--     CORRELATED SCALAR SUBQUERY 1
--       SEARCH other USING COVERING INDEX tracks_list (collection_id=? AND order=?)
--     CORRELATED SCALAR SUBQUERY 2
--       SEARCH other USING COVERING INDEX tracks_list (collection_id=?)
--   SCAN placed
--   SEARCH tracks USING COVERING INDEX sqlite_autoindex_tracks_1 (id=?)
