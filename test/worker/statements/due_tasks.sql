-- findDueTasks (src/background/sweep.ts): reads which phases of a sweep have something to do.

select
  exists (
    select
      1
    from
      jobs
    where
      slot is not null
  ) as "is_running",
  exists (
    select
      1
    from
      jobs
    where
      state = 'open'
      and rank is not null
      and slot is null
  ) as "is_waiting",
  exists (
    select
      1
    from
      search_fills
  ) as "is_unsearched",
  exists (
    select
      1
    from
      play_sessions
    where
      id >= coalesce(
        (
          select
            at
          from
            usage_cursors
          where
            name = 'sessions'
        ),
        ''
      )
      and id < ?1
  ) as "is_session_uncounted",
  exists (
    select
      1
    from
      usage_days
    where
      date > ''
      and date < ?2
  ) as "is_day_old",
  exists (
    select
      1
    from
      (
        select
          1
        where
          exists (
            select
              1
            from
              webhook_deliveries
            where
              due_at is not null
          )
          and exists (
            with recursive
              waiting (id) as (
                select
                  min(endpoint_id)
                from
                  webhook_deliveries
                where
                  due_at is not null
                union all
                select
                  (
                    select
                      min(endpoint_id)
                    from
                      webhook_deliveries
                    where
                      due_at is not null
                      and endpoint_id > waiting.id
                  )
                from
                  waiting
                where
                  waiting.id is not null
              )
            select
              1
            from
              waiting
              cross join webhook_endpoints as endpoint on endpoint.id = waiting.id
            where
              endpoint.state = 'active'
              and exists (
                select
                  1
                from
                  webhook_deliveries as due
                where
                  due.endpoint_id = endpoint.id
                  and due.due_at <= ?3
              )
          )
      )
  ) as "is_webhook_due",
  exists (
    select
      1
    from
      webhook_endpoints
    where
      swept_until < ?4
  ) as "is_webhook_old",
  exists (
    select
      1
    from
      upload_handles
    where
      check_at <= ?5
  ) as "is_handle_due",
  exists (
    select
      1
    from
      trash
    where
      expires_at <= ?6
  ) as "is_trash_due",
  (
    select
      count(*)
    from
      listening_folds
    where
      due_at > 0
      and due_at < ?7
  ) as "overdue_folds",
  exists (
    select
      1
    from
      reservations
    where
      upload_session_id is not null
      and day < ?8
  ) as "is_reservation_ended",
  json_array(
    exists (
      select
        1
      from
        "play_sessions"
      where
        id < ?9
    ),
    exists (
      select
        1
      from
        "upload_sessions"
      where
        expires_at < ?10
    ),
    exists (
      select
        1
      from
        "idempotency_keys"
      where
        created_at < ?11
    ),
    exists (
      select
        1
      from
        "jobs"
      where
        created_at < ?12
        and state <> 'open'
    )
  ) as "ended"
from
  (
    select
      1
  );

-- Query plan:
--   CO-ROUTINE (subquery-24)
--     SCAN CONSTANT ROW
--   SCAN (subquery-24)
--   SCALAR SUBQUERY 1
--     SEARCH jobs USING COVERING INDEX jobs_slot (slot>?)
--   SCALAR SUBQUERY 2
--     SCAN jobs USING INDEX jobs_open
--   SCALAR SUBQUERY 3
--     SCAN search_fills USING COVERING INDEX sqlite_autoindex_search_fills_1
--   SCALAR SUBQUERY 5
--     SEARCH play_sessions USING PRIMARY KEY (id>? AND id<?)
--     SCALAR SUBQUERY 4
--       SEARCH usage_cursors USING PRIMARY KEY (name=?)
--   SCALAR SUBQUERY 6
--     SEARCH usage_days USING COVERING INDEX usage_days_date (date>? AND date<?)
--   SCALAR SUBQUERY 14
--     CO-ROUTINE (subquery-13)
--       SCAN webhook_deliveries EXISTS USING COVERING INDEX webhook_deliveries_due
--       SCALAR SUBQUERY 12
--         CO-ROUTINE waiting
--           SETUP
--             SEARCH webhook_deliveries USING COVERING INDEX webhook_deliveries_due
--           RECURSIVE STEP
--             SCAN waiting
--             CORRELATED SCALAR SUBQUERY 9
--               SEARCH webhook_deliveries USING COVERING INDEX webhook_deliveries_due (endpoint_id>?)
--         SCAN waiting
--         SEARCH endpoint USING PRIMARY KEY (id=?)
--         SEARCH due EXISTS USING COVERING INDEX webhook_deliveries_due (endpoint_id=? AND due_at<?)
--     SCAN (subquery-13)
--   SCALAR SUBQUERY 15
--     SEARCH webhook_endpoints USING COVERING INDEX webhook_endpoints_swept (swept_until<?)
--   SCALAR SUBQUERY 16
--     SEARCH upload_handles USING COVERING INDEX upload_handles_check (check_at<?)
--   SCALAR SUBQUERY 17
--     SEARCH trash USING COVERING INDEX trash_expiry (expires_at<?)
--   SCALAR SUBQUERY 18
--     SEARCH listening_folds USING COVERING INDEX listening_folds_due (due_at>? AND due_at<?)
--   SCALAR SUBQUERY 19
--     SEARCH reservations USING INDEX reservations_key (day<?)
--   SCALAR SUBQUERY 20
--     SEARCH play_sessions USING PRIMARY KEY (id<?)
--   SCALAR SUBQUERY 21
--     SEARCH upload_sessions USING COVERING INDEX upload_sessions_expiry (expires_at<?)
--   SCALAR SUBQUERY 22
--     SEARCH idempotency_keys USING COVERING INDEX idempotency_keys_age (created_at<?)
--   SCALAR SUBQUERY 23
--     SEARCH jobs USING INDEX jobs_age (created_at<?)
