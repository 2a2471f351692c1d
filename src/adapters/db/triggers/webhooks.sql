-- A delivery for each active endpoint that is subscribed to the event: by `*`, its type, or the start of its type (`track.*`). An endpoint receives
-- no events about itself. isSubscribed in src/resources/webhooks/endpoint.ts has the same conditions for events of the past.
CREATE TRIGGER events_webhooks AFTER INSERT ON events
WHEN new.type <> 'webhook.test'
BEGIN
  INSERT INTO webhook_deliveries (endpoint_id, seq, due_at, subject)
  SELECT
    id,
    new.seq,
    -- At an ordered endpoint, a delivery waits (null) for earlier ones of the same subject. Others are due immediately.
    iif(
      is_ordered AND EXISTS (
        SELECT 1 FROM webhook_deliveries AS earlier
        WHERE earlier.endpoint_id = webhook_endpoints.id AND earlier.subject = new.subject
      ),
      NULL,
      0
    ),
    iif(is_ordered, new.subject, NULL)
  FROM webhook_endpoints
  WHERE organization_id = new.organization_id
    AND state = 'active'
    AND new.subject <> 'webhook_endpoint:' || id
    AND EXISTS (
      SELECT 1 FROM json_each(events)
      WHERE value IN ('*', new.type)
        OR (value LIKE '%.*' AND substr(new.type, 1, length(value) - 1) = substr(value, 1, length(value) - 1))
    );
END;
