"""Requests, retries and errors. It uses only the standard library."""

from __future__ import annotations

import http.client
import json
import re
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from os import PathLike
from typing import Any

RETRIES = 2
"""How often a request that is safe to repeat is sent again."""
FIRST_DELAY = 0.3
"""Seconds before the first retry; each further retry waits twice as long."""
LONGEST_RETRY_AFTER = 5.0
"""The longest `Retry-After`, in seconds, that a call waits for."""


class TonearmError(Exception):
    """A call that failed. `code` is one of the codes in docs/errors.md, `network` if there was no
    response, `not_json` if it is not JSON, or `upload_refused` if the storage did not accept a file.
    """

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        """The HTTP status; 0 if there was no response."""
        self.code: str = body.get("code", "network")
        self.message: str = body.get("message", "")
        self.errors: list[dict[str, str]] = body.get("errors", [])
        """The fields that were rejected, each with `path` and `message`."""
        self.docs_url: str | None = body.get("docs_url")
        """The URL of the paragraph about the code in the documentation of the service."""
        self.missing: list[str] = body.get("missing", [])
        """The effects that the `may` of the server key lacks; only with `insufficient_scope`."""
        self.quota: dict[str, Any] | None = body.get("quota")
        self.current: dict[str, Any] | None = body.get("current")
        """The resource as it is now, after a change with another `if_match`."""
        self.reason: str | None = body.get("reason")
        """Why a listening report was refused, as in the statistics."""
        self.storage_code: str | None = body.get("storage_code")
        """The reason of the storage, such as `SignatureDoesNotMatch`; only for uploads."""
        self.api_request_id: str | None = body.get("api_request_id")
        # The message is that of the first field. It may have an unknown field too.
        fields = [f"{error['path']}: {error['message']}" for error in self.errors]
        details = "".join(f"; {field}" for field in fields if field not in self.message)
        super().__init__(f"{self.code} ({status}): {self.message}{details}")


class Transport:
    def __init__(self, base_url: str, api_key: str | None, timeout: float) -> None:
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout

    def call(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: Any = None,
    ) -> Any:
        """Sends a request and returns the parsed response. Raises `TonearmError`."""
        for name, value in (params or {}).items():
            path = path.replace("{" + name + "}", urllib.parse.quote(value, safe=""))
        values = {name: value for name, value in (query or {}).items() if value is not None}
        search = urllib.parse.urlencode({name: _text(value) for name, value in values.items()})
        url = self._base_url + path + ("?" + search if search else "")
        sent = {name: value for name, value in (headers or {}).items() if value is not None}
        # If the first response was lost, a repeated DELETE would return 404, and a repeated conditional change 412.
        is_repeatable = method != "DELETE" and "if-match" not in sent
        if self._api_key:
            sent["authorization"] = "Bearer " + self._api_key
        if method == "POST":
            sent["idempotency-key"] = secrets.token_hex(16)
        data = None
        if body is not None:
            sent["content-type"] = "application/json"
            data = json.dumps(body).encode()
        delay = FIRST_DELAY
        for attempt in range(RETRIES + 1):
            error, retry_in = None, None
            try:
                return self._send(urllib.request.Request(url, data, sent, method=method))
            except urllib.error.HTTPError as response:
                error, retry_in = _failure(response, is_repeatable, delay)
            except TonearmError as cause:
                error, retry_in = cause, delay if is_repeatable else None
            except (urllib.error.URLError, OSError, ValueError, http.client.HTTPException) as cause:
                error = TonearmError(0, {"message": f"{self._base_url} cannot be reached: {cause}"})
                retry_in = delay if is_repeatable else None
            if retry_in is None or retry_in > LONGEST_RETRY_AFTER or attempt == RETRIES:
                raise error
            time.sleep(retry_in)
            delay *= 2
        raise AssertionError("unreachable")

    def _send(self, request: urllib.request.Request) -> Any:
        with urllib.request.urlopen(request, timeout=self._timeout) as response:
            # An operation without a response, such as a listening report, answers 204.
            if response.status == 204:
                return {"ok": True}
            try:
                return json.load(response)
            except ValueError:
                message = f"The service sent no JSON ({response.status})"
                raise TonearmError(response.status, {"code": "not_json", "message": message}) from None

    def upload(self, handle: Mapping[str, Any], file: str | PathLike[str] | bytes, content_type: str) -> str | None:
        """Sends a file to an upload handle (specification §2, UploadHandle) and returns its ETag."""
        if isinstance(file, bytes):
            return self._put(handle, file, len(file), content_type)
        with open(file, "rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(0)
            return self._put(handle, stream, size, content_type)

    def _put(self, handle: Mapping[str, Any], data: Any, size: int, content_type: str) -> str | None:
        headers = {"content-length": str(size), "content-type": content_type}
        request = urllib.request.Request(handle["upload_url"], data, headers, method=handle["method"])
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:
                return response.headers.get("etag")
        except urllib.error.HTTPError as response:
            raise _refusal(response, handle["method"], size, content_type) from None
        except (OSError, http.client.HTTPException) as cause:
            raise TonearmError(0, {"message": f"The upload was interrupted: {cause}"}) from None


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(_text(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(response: urllib.error.HTTPError) -> tuple[str, dict[str, Any] | None]:
    """Returns the body of an error response, and what it contains if it is a JSON object. It is empty if it was cut off."""
    try:
        with response:
            text = response.read().decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return "", None
    try:
        body = json.loads(text)
    except ValueError:
        return text, None
    return text, body if isinstance(body, dict) else None


def _refusal(response: urllib.error.HTTPError, method: str, size: int, content_type: str) -> TonearmError:
    """Returns the error of an upload. The storage answers in XML (docs/upload.md#uploads-that-are-refused)."""
    text, body = _read(response)
    if body is not None:
        return TonearmError(response.code, body)
    found = re.search(r"<Code>(\w+)</Code>", text)
    code = found[1] if found else None
    meanings = {
        "SignatureDoesNotMatch": "the request is not the one that was signed. Use the unchanged upload_url with "
        f"{method}. If the URL was requested with file_size or content_type, they must be those of the file: "
        f"{size} bytes, type {content_type}",
        "ExpiredRequest": "the URL has expired. Request a new one with renew_track_upload",
        "NoSuchUpload": "the upload in parts has ended. Start another one",
        "AccessDenied": "the service may not write to its bucket. Its operator has to check the keys of the bucket",
    }
    meaning = f": {meanings[code]}" if code in meanings else ""
    message = f"The upload was refused: {code or response.code}{meaning}"
    return TonearmError(response.code, {"code": "upload_refused", "message": message, "storage_code": code})


def _failure(response: urllib.error.HTTPError, is_repeatable: bool, delay: float) -> tuple[TonearmError, float | None]:
    """Returns the error of a response, and the seconds after which the request may be repeated, or None."""
    _, body = _read(response)
    if body is None:
        body = {"code": "network", "message": f"HTTP {response.code} without the service's own response"}
    status, after = response.code, response.headers.get("retry-after")
    # With 429, and with 409 and Retry-After, the service did not execute the request.
    not_executed = status == 429 or (status == 409 and after is not None)
    may_repeat = not_executed or (status in (408, 500, 502, 503, 504) and is_repeatable)
    seconds = float(after) if after and after.isdigit() else delay
    return TonearmError(status, body), seconds if may_repeat else None
