"""Verifies webhook requests as defined by Standard Webhooks 1.0 (docs/webhooks.md)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping

from .types import TonearmEvent

TOLERANCE = 300
"""Maximum difference between the timestamp and now, in seconds. It limits replay attacks."""


class WebhookError(Exception):
    """A request that does not come from the service, or that is too old."""


def verify_webhook(body: bytes | str, headers: Mapping[str, str], secret: str) -> TonearmEvent:
    """Returns the event of a webhook request. `body` is the raw body. Raises `WebhookError`."""
    raw = body.encode() if isinstance(body, str) else body
    values = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = values.get("webhook-id", ""), values.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE:
        raise WebhookError("The timestamp is missing, too old or too new")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + raw
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = (part.partition(",") for part in values.get("webhook-signature", "").split(" "))
    if not any(version == "v1" and hmac.compare_digest(text.encode(), expected) for version, _, text in given):
        raise WebhookError("The signature does not match the body")
    return json.loads(raw)
