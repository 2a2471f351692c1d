"""The clients, with what takes more than one request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from typing import Any, TypeVar

from . import types
from ._operations import AsyncOperations, Operations
from ._transport import Transport

FINAL = ("ready", "incomplete", "failed")
PAGE_SIZE = 200
OCTETS = "application/octet-stream"
P = TypeVar("P", bound=Mapping[str, Any])


class Tonearm(Operations):
    """A client for one service. Its methods are the operations of the API, and raise `TonearmError`.

    `timeout` is the time in seconds that a connection may be silent. A client may be used by several threads.
    """

    def __init__(self, base_url: str, api_key: str | None = None, *, timeout: float = 60) -> None:
        super().__init__(Transport(base_url, api_key, timeout))

    def upload_file(
        self, handle: types.UploadHandle, file: str | PathLike[str] | bytes, *, content_type: str = OCTETS
    ) -> str | None:
        """Sends a file to an upload handle and returns its ETag.

        If the handle was requested with a `content_type`, give the same one here.
        """
        return self._transport.upload(handle, file, content_type)

    def wait_for_track(self, track_id: str, *, every: float = 1) -> types.Track:
        """Reads a track every few seconds until it is `ready`, `incomplete` or `failed`."""
        while (track := self.get_track(track_id)["track"])["status"] not in FINAL:
            time.sleep(every)
        return track

    def pages(self, read: Callable[..., P], *arguments: Any, **query: Any) -> Iterator[P]:
        """Reads all pages of a list: `for page in client.pages(client.list_tracks, status="failed"): …`."""
        offset = 0
        place: dict[str, Any] = {"offset": offset}
        while True:
            page = read(*arguments, **query, limit=PAGE_SIZE, **place)
            yield page
            if "after" in page:
                if page["after"] is None:
                    return
                place = {"after": page["after"]}
                continue
            rows = next(value for value in page.values() if isinstance(value, list))
            if len(rows) < PAGE_SIZE:
                return
            offset += PAGE_SIZE
            place = {"offset": offset}


class AsyncTonearm(AsyncOperations):
    """The same client for asyncio. Each call runs in a thread, so no other package is needed."""

    def __init__(self, base_url: str, api_key: str | None = None, *, timeout: float = 60) -> None:
        super().__init__(Operations(Transport(base_url, api_key, timeout)))

    async def upload_file(
        self, handle: types.UploadHandle, file: str | PathLike[str] | bytes, *, content_type: str = OCTETS
    ) -> str | None:
        """Sends a file to an upload handle and returns its ETag."""
        return await asyncio.to_thread(self._operations._transport.upload, handle, file, content_type)

    async def wait_for_track(self, track_id: str, *, every: float = 1) -> types.Track:
        """Reads a track every few seconds until it is `ready`, `incomplete` or `failed`."""
        while (track := (await self.get_track(track_id))["track"])["status"] not in FINAL:
            await asyncio.sleep(every)
        return track
