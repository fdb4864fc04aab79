"""The HTTP client: concurrency, timeouts, retries with backoff, Retry-After and a limit on the rate."""

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import Any, TypeVar

import httpx2 as httpx

from draftproof.theory.errors import BadInput

T = TypeVar("T")
S = TypeVar("S")
LONGEST_WAIT = 60.0


class Refused(Exception):
    """The server answered that it cannot serve this request (status 400, 413, 415 or 422)."""


class Unanswered(Exception):
    """Every attempt at a request failed, or the time is up; the text says how."""


class TimeUp(Unanswered):
    """The time that was granted is over."""


class Client:
    """Posts JSON bodies to a server, several at once.

    `url` ends in `/v1` or is completed to. `rate`: the most requests that are started in a second; `timeout`:
    seconds that an answer may take; `retries`: how often a failed request is sent again. Statistics:
    `requests` sent, `retried`.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 4,
        rate: float | None = None,
        concurrency: int = 4,
        deadline: float | None = None,
        transport: httpx.BaseTransport | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        try:
            parsed = httpx.URL(url if "://" in url else f"http://{url}")
        except httpx.InvalidURL:
            raise BadInput("the URL is not valid") from None
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise BadInput("the URL must begin with http:// or https:// and name a host")
        path = parsed.path.rstrip("/")
        self.base = parsed.copy_with(path=path if path.endswith("/v1") else f"{path}/v1", query=None)
        self.name = str(self.base.copy_with(userinfo=b""))
        self.timeout, self.retries, self.rate = timeout, retries, rate
        self.concurrency, self.deadline, self.wait = concurrency, deadline, wait
        self.requests = self.retried = 0
        self._lock, self._next = Lock(), 0.0
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limits = httpx.Limits(max_connections=concurrency)
        self._http = httpx.Client(headers=headers, timeout=timeout, limits=limits, transport=transport)

    def map(self, call: Callable[[S], T], given: Iterable[S]) -> Iterator[T]:
        """`call` on each, in their order, `concurrency` at once; an error drops the rest."""
        with ThreadPoolExecutor(self.concurrency) as pool:
            try:
                with closing(pool.map(call, given)) as done:  # type: ignore[type-var]
                    yield from done
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def send(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object that answers a POST of the body, or without one a GET.

        Raises Refused; Unanswered after the last retry; BadInput where the server does not know the key, the
        path or the model (status 401, 403, 404).
        """
        method, fault = "GET" if body is None else "POST", ""
        for attempt in range(self.retries + 1):
            self._turn()
            asked_wait, limit = None, self._left()
            try:
                with self._http.stream(method, f"{self.base}{path}", json=body, timeout=limit) as answer:
                    found = _object(_whole(answer, limit))
                fault = f"status {answer.status_code}"
                if answer.status_code == 200:
                    if found is not None:
                        return found
                    fault = "an answer that is not a whole JSON object"
                if answer.status_code in (400, 413, 415, 422):
                    raise Refused(_message(found))
                if answer.status_code in (401, 403, 404):
                    raise BadInput(f"{self.name}{path}: {fault}{_message(found)}")
                asked_wait = _retry_after(answer.headers.get("Retry-After"))
            except httpx.TimeoutException:
                fault = f"no answer within {limit:.3g} s"
            except httpx.TransportError as error:
                fault = str(error).strip().lower() or type(error).__name__
            if attempt < self.retries:
                pause = min(LONGEST_WAIT, 0.5 * 2**attempt) * random.uniform(0.5, 1)
                self._pause(min(LONGEST_WAIT, asked_wait) if asked_wait is not None else pause)
                self.retried += 1
        raise Unanswered(f"{self.name}{path}: {fault}, {self.retries + 1} times in a row")

    def _left(self) -> float:
        left = self.timeout if self.deadline is None else min(self.timeout, self.deadline - time.monotonic())
        if left <= 0:
            raise TimeUp("the time is up")
        return left

    def _pause(self, seconds: float) -> None:
        if self.deadline is not None and time.monotonic() + seconds > self.deadline:
            raise TimeUp("the time is up")
        self.wait(seconds)

    def _turn(self) -> None:
        """Waits until the rate allows another request."""
        with self._lock:
            self.requests += 1
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + (1 / self.rate if self.rate else 0)
        if at > now:
            self._pause(at - now)


def _whole(answer: httpx.Response, limit: float) -> bytes:
    """The body; a server that sends it too slowly ends in a timeout, although it never stops sending."""
    end, parts = time.monotonic() + limit, []
    for part in answer.iter_bytes():
        parts.append(part)
        if time.monotonic() > end:
            raise httpx.ReadTimeout("slow")
    return b"".join(parts)


def _object(body: bytes) -> dict[str, Any] | None:
    """The JSON object that a body is; None for anything else, such as half of one."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _message(found: dict[str, Any] | None) -> str:
    """What a refusal says, in one short line; servers may repeat the prompt in it, so it is cut."""
    given = found or {}
    text = given.get("error", given.get("detail", given.get("message", "")))
    text = text.get("message", "") if isinstance(text, dict) else text
    return f": {' '.join(str(text).split())[:120]}" if text else ""


def _retry_after(given: str | None) -> float | None:
    """Seconds from a Retry-After header, which has seconds or a date."""
    if given is None:
        return None
    try:
        return max(0.0, float(given))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(given) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
