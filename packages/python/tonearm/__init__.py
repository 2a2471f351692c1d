"""A typed client for the API of Tonearm: `Tonearm`, and `AsyncTonearm` for asyncio."""

from . import types
from ._transport import TonearmError
from .client import AsyncTonearm, Tonearm
from .sign import sign_play_session
from .webhook import WebhookCode, WebhookError, verify_webhook

__all__ = [
    "AsyncTonearm",
    "Tonearm",
    "TonearmError",
    "WebhookCode",
    "WebhookError",
    "sign_play_session",
    "types",
    "verify_webhook",
]
