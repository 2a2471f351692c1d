"""Signs play sessions on your server (docs/signed_sessions.md). It never calls the service."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
import uuid
from collections.abc import Sequence
from typing import Any, Literal


def sign_play_session(
    secret: str,
    *,
    scope: Literal["collection", "track", "playlist"],
    id: str,
    expires_in: int = 3600,
    variants: Sequence[str] | None = None,
    is_downloadable: bool | None = None,
    listener: str | None = None,
) -> str:
    """Returns the token of a play session, which works wherever the service accepts the id of one.

    `secret` is that of a signing key; any other raises `ValueError`. `expires_in` is in seconds, a day at most; more raises
    `ValueError` too. Everyone who has the token can read `listener`, your pseudonym for the listener.
    """
    found = re.fullmatch(r"ta_sg_([0-9A-Za-z]+\.[\da-f-]{36})_[0-9A-Za-z]{49}", secret)
    if not found:
        raise ValueError("The secret must be that of a signing key, ta_sg_…")
    if not 0 < expires_in <= 86_400:
        raise ValueError("expires_in must be 1 to 86400 seconds")
    now = int(time.time())
    limits = {"variants": variants and list(variants), "is_downloadable": is_downloadable, "listener": listener}
    claims: dict[str, Any] = {"scope": scope, "id": id, "iat": now, "exp": now + int(expires_in), "jti": str(uuid.uuid4())}
    claims.update({name: value for name, value in limits.items() if value is not None})
    text = f"{_part({'alg': 'HS256', 'typ': 'JWT', 'kid': found[1]})}.{_part(claims)}"
    return f"{text}.{_base64url(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest())}"


def _part(value: dict[str, Any]) -> str:
    return _base64url(json.dumps(value, separators=(",", ":")).encode())


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
