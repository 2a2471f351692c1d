-- loadTask (src/domain/transcode/request.ts): reads the track of a transcode, with everything that the track inherits.

select
  "tracks"."id",
  "tracks"."organization_id",
  "tracks"."collection_id",
  "tracks"."folder_id",
  "tracks"."index",
  "tracks"."cover_path",
  "tracks"."cover_job_id",
  "tracks"."edited_tags",
  "tracks"."progress",
  (
    tracks.files ->> '$.list[0][0]' is not null
    and tracks.files ->> '$.is_early' is null
  ) as "is_playable",
  "tracks"."player_title",
  "tracks"."player_subtitle",
  coalesce(
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
  ) as "file_name",
  "collections"."title" as "album",
  coalesce("collections"."player_subtitle", "organizations"."player_subtitle") as "subtitle",
  coalesce(
    "collections"."cover_path",
    case
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
    end ->> '$.cover_path'
  ) as "collection_cover",
  "organizations"."uses_tags" as "uses_tags",
  "organizations"."is_cover_overridable"
  and "collections"."is_cover_overridable" as "overridable"
from
  "tracks"
  inner join "collections" on "collections"."id" = "tracks"."collection_id"
  inner join "organizations" on "organizations"."id" = "tracks"."organization_id"
where
  (
    "tracks"."id" = ?1
    and "tracks"."job_id" = ?2
  );

-- Query plan:
--   SEARCH tracks USING INDEX sqlite_autoindex_tracks_1 (id=?)
--   SEARCH collections USING INDEX sqlite_autoindex_collections_1 (id=?)
--   SEARCH organizations USING INDEX sqlite_autoindex_organizations_1 (id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH upload_handles USING PRIMARY KEY (track_id=? AND path=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH places USING INDEX tracks_list (collection_id=?)
