"""Verifies webhook requests as defined by Standard Webhooks 1.0 (docs/webhooks.md)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable
from typing import Any, Literal, Protocol, cast

from .types import TonearmEvent

TOLERANCE = 300
"""Maximum difference between the timestamp and now, in seconds. It limits replay attacks."""
MIN_SECRET = 24
"""Minimum length of a secret that the standard allows, in bytes."""

WebhookCode = Literal[
    "headers_missing",
    "timestamp_invalid",
    "timestamp_too_old",
    "timestamp_too_new",
    "secret_invalid",
    "signature_mismatch",
    "body_not_raw",
    "body_invalid",
]
MESSAGES: dict[WebhookCode, str] = {
    "headers_missing": "webhook-id, webhook-timestamp or webhook-signature is missing",
    "timestamp_invalid": "The timestamp is not a number",
    "timestamp_too_old": "The timestamp is more than five minutes old",
    "timestamp_too_new": "The timestamp is more than five minutes in the future",
    "secret_invalid": f"The secret is missing or cut off: it must have at least {MIN_SECRET} bytes in Base64",
    "signature_mismatch": "The signature does not match the body",
    "body_not_raw": "The body is neither text nor bytes",
    "body_invalid": "The body is not a JSON object",
}


class WebhookError(Exception):
    """A request that could not be verified. `code` says why (docs/webhooks.md#verify)."""

    def __init__(self, code: WebhookCode) -> None:
        self.code: WebhookCode = code
        super().__init__(MESSAGES[code])


class Headers(Protocol):
    """Headers of a request: a `dict`, or the object of `http.server`, Flask, Django, Starlette or aiohttp."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify_webhook(body: bytes | bytearray | memoryview | str, headers: Headers, secret: str) -> TonearmEvent:
    """Returns the event of a webhook request. Raises `WebhookError`, and nothing else.

    `body` is the raw body, which must not have been parsed. The names of `headers` may be in any case. `secret` is that
    of the endpoint, `whsec_…`.
    """
    message_id, timestamp, signatures = _read(headers)
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        raise WebhookError("timestamp_invalid")
    age = int(time.time()) - int(timestamp)
    if abs(age) > TOLERANCE:
        raise WebhookError("timestamp_too_old" if age > 0 else "timestamp_too_new")
    raw = _bytes(body)
    signed = _encode(f"{message_id}.{timestamp}.") + raw
    expected = base64.b64encode(hmac.new(_key(secret), signed, hashlib.sha256).digest())
    given = (part.partition(",") for part in signatures.split(" "))
    if not any(version == "v1" and hmac.compare_digest(_encode(text), expected) for version, _, text in given):
        raise WebhookError("signature_mismatch")
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        raise WebhookError("body_invalid") from None
    if not isinstance(event, dict):
        raise WebhookError("body_invalid")
    return cast(TonearmEvent, event)


def _read(headers: Any) -> list[str]:
    """Returns the id, the timestamp and the signatures."""
    try:
        values = {name.lower(): value for name, value in headers.items()}
    except (AttributeError, TypeError, ValueError):
        raise WebhookError("headers_missing") from None
    found: list[Any] = [values.get(f"webhook-{name}") for name in ("id", "timestamp", "signature")]
    if not all(isinstance(value, str) and value for value in found):
        raise WebhookError("headers_missing")
    return found


def _bytes(body: Any) -> bytes:
    if isinstance(body, str):
        return _encode(body)
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise WebhookError("body_not_raw")


def _encode(text: str) -> bytes:
    # A lone surrogate has no bytes. It is replaced, so that the signature does not match.
    return text.encode(errors="replace")


def _key(secret: Any) -> bytes:
    """Decodes a secret. `b64decode` ignores characters after the padding and spare bits, so the result is compared."""
    text = secret.removeprefix("whsec_") if isinstance(secret, str) else ""
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        raise WebhookError("secret_invalid") from None
    if len(key) < MIN_SECRET or base64.b64encode(key).decode() != text:
        raise WebhookError("secret_invalid")
    return key
