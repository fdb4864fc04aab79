"""The HTTP client: one deadline for a whole request, retries, and a budget that a run's requests share."""

import asyncio
import json
import random
import re
import time
from base64 import b64encode
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache
from math import inf
from threading import Event, Lock, Thread
from typing import Any, TypeVar

import httpx2 as httpx

from draftproof.theory.errors import BadInput, quoted

T = TypeVar("T")
S = TypeVar("S")
LONGEST_WAIT = 60.0
LARGEST = 2**25
"""Bytes of the largest answer that is read."""


class Refused(Exception):
    """The server answered that it cannot serve this request (status 400, 405, 413, 415, 422 or 501)."""


class Unanswered(Exception):
    """Every attempt at a request failed, or the budget is spent; the text says how."""


class Spent(Unanswered):
    """The time is over, or a request would generate more tokens than are left."""


@dataclass
class Budget:
    """What the requests of a run may cost: `tokens` that are asked for, and `seconds` from now."""

    tokens: float = inf
    seconds: float = inf
    asked: int = 0
    start: float = field(default_factory=time.monotonic)
    _lock: Any = field(default_factory=Lock)

    def take(self, tokens: int) -> None:
        """Counts the tokens that a request asks for; Spent if that are too many."""
        with self._lock:
            if self.asked + tokens > self.tokens:
                raise Spent(f"{self.tokens:,} tokens are too few to go on")
            self.asked += tokens

    def left(self, ahead: float = 0) -> float:
        """The seconds that are left after those `ahead`; Spent if there are none."""
        left = self.start + self.seconds - time.monotonic() - ahead
        if left <= 0:
            raise Spent("the time is up")
        return left


class Client:
    """Posts JSON bodies to a server, several at once.

    `url` ends in `/v1` or is completed to. `timeout`: seconds from connecting to the end of an answer;
    `retries`: how often a failed request is sent again. Statistics: `requests` sent, `retried`.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 4,
        concurrency: int = 4,
        transport: httpx.AsyncBaseTransport | None = None,
        wait: Callable[[float], Any] | None = None,
    ) -> None:
        try:
            parsed = httpx.URL(url if "://" in url else f"http://{url}")
        except httpx.InvalidURL:
            raise BadInput("the URL is not valid") from None
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise BadInput("the URL must begin with http:// or https:// and name a host")
        if key and not (key.isascii() and key.isprintable()):
            raise BadInput("the key has characters that no header can have")
        path = parsed.path.rstrip("/")
        self.base = parsed.copy_with(path=path if path.endswith("/v1") else f"{path}/v1", query=None)
        self.name = str(self.base.copy_with(userinfo=b""))
        self.timeout, self.retries, self.concurrency = timeout, retries, concurrency
        self.budget = Budget()
        self.requests = self.retried = 0
        self._closed = Event()
        self.wait = wait or self._closed.wait
        basic = b64encode(f"{parsed.username}:{parsed.password}".encode()).decode()
        secrets = (key, parsed.password, basic if parsed.password else "")
        spelled = [r"\s*".join(map(re.escape, each)) for each in secrets if each]
        self._secret = re.compile("|".join(spelled) or r"(?!)", re.IGNORECASE)
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        limits = httpx.Limits(max_connections=concurrency)
        self._http = httpx.AsyncClient(headers=headers, timeout=None, limits=limits, transport=transport)
        self._under_way: set[Future[Any]] = set()

    def map(self, call: Callable[[S], T], given: Iterable[S]) -> Iterator[T]:
        """`call` on each, in their order, `concurrency` at once; an error drops the rest."""
        with ThreadPoolExecutor(self.concurrency) as pool:
            try:
                with closing(pool.map(call, given)) as done:  # type: ignore[type-var]
                    yield from done
            except KeyboardInterrupt:
                self.close()  # else the answers under way would be waited for
                raise
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Ends the requests under way, and closes the connections."""
        self._closed.set()
        for each in tuple(self._under_way):
            each.cancel()
        self._run(self._http.aclose())

    def shown(self, text: object, most: int = 120) -> str:
        """Something that the server said, in one short line without control characters, and without the key
        and the password, which some servers repeat.

        >>> Client("http://host", "sk-1").shown("\\x1b[31mno key\\nSK-\\u202e1")
        '[31mno key [secret]'
        """
        said = text if isinstance(text, str) else quoted(text)
        line = " ".join("".join(each if each.isprintable() else " " for each in said).split())
        return self._secret.sub("[secret]", line)[:most]

    def send(
        self, path: str, body: dict[str, Any] | None = None, tokens: int = 0, root: bool = False
    ) -> dict[str, Any]:
        """The JSON object that answers a POST of the body, or without one a GET. Each attempt costs `tokens`.
        `root`: the path does not follow `/v1`.

        Raises Refused; Unanswered after the last retry; BadInput where the server does not know the key, the
        path or the model (status 401, 403, 404).
        """
        url, fault = f"{self.base}{path}", ""
        if root:
            url = str(self.base.copy_with(path=self.base.path.removesuffix("/v1") + path))
        for attempt in range(self.retries + 1):
            self.budget.take(tokens)
            wait, limit = None, min(self.timeout, self.budget.left())
            self.requests += 1
            try:
                status, wait, found = self._run(self._answer(url, body, limit))
                fault = f"status {status}"
                if status == 200:
                    if found is not None:
                        return found
                    fault = "an answer that is not a whole JSON object"
                if status in (400, 405, 413, 415, 422, 501):
                    raise Refused(self._message(found))
                if status in (401, 403, 404):
                    raise BadInput(f"{self.name}{path}: {fault}{self._message(found)}")
            except TimeoutError:
                fault = f"no answer within {limit:.3g} s"
            except (httpx.RequestError, httpx.InvalidURL) as error:
                fault = self.shown(str(error).lower()) or type(error).__name__
            if attempt < self.retries:
                pause = min(LONGEST_WAIT, 0.5 * 2**attempt) * random.uniform(0.5, 1)
                pause = min(LONGEST_WAIT, wait) if wait is not None else pause
                self.budget.left(pause)
                self.wait(pause)
                self.retried += 1
        raise Unanswered(f"{self.name}{path}: {fault}, {self.retries + 1} times in a row")

    async def _answer(
        self, url: str, body: dict[str, Any] | None, limit: float
    ) -> tuple[int, float | None, dict[str, Any] | None]:
        """Status, seconds to wait if the answer says so, and its JSON object (None for anything else), all of
        it within so many seconds.
        """
        sent = None if body is None else json.dumps(body).encode()
        parts, size = [], 0
        async with asyncio.timeout(limit):
            kind = {"Content-Type": "application/json"}
            method = "GET" if sent is None else "POST"
            async with self._http.stream(method, url, content=sent, headers=kind) as answer:
                if answer.headers.get("Content-Encoding", "identity") != "identity":
                    raise httpx.DecodingError("an answer that is compressed, which was not asked for")
                async for part in answer.aiter_bytes():
                    parts.append(part)
                    size += len(part)
                    if size > LARGEST:
                        raise httpx.ReadError(f"an answer of more than {LARGEST:,} bytes")
        wait, found = None, None
        with suppress(ValueError):  # a date is not read
            wait = max(0.0, float(answer.headers.get("Retry-After", "")))
        with suppress(ValueError, RecursionError):  # such as half a document
            found = json.loads(b"".join(parts))
        return answer.status_code, wait, found if isinstance(found, dict) else None

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, _loop())
        self._under_way.add(future)
        try:
            return future.result()
        finally:
            self._under_way.discard(future)

    def _message(self, found: dict[str, Any] | None) -> str:
        """What a refusal says; servers may repeat the prompt in it, so it is cut."""
        given = found or {}
        text = given.get("error", given.get("detail", given.get("message", "")))
        text = text.get("message", "") if isinstance(text, dict) else text
        return f": {self.shown(text)}" if text else ""


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The loop in which all clients wait, in a thread of its own."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, daemon=True).start()
    return loop
