"""The client as production servers meet it: retries, Retry-After, rates, and faults in one line."""

import asyncio
import signal
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor

import httpx2 as httpx
import pytest

from draftproof.simulators.endpoint.client import Budget, Client, Refused, Spent, Unanswered
from draftproof.theory.errors import BadInput


def client(answers, waits=None, **options):
    """A client whose server gives these answers in turn; the last one again and again."""
    left = list(answers)

    def handler(request):
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    wait = (waits if waits is not None else []).append
    return Client("http://host", transport=httpx.MockTransport(handler), wait=wait, **options)


GOOD = httpx.Response(200, json={"ok": 1})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (httpx.Response(429), "status 429"),
        (httpx.Response(500), "status 500"),
        (httpx.Response(503, text="<html>"), "status 503"),
        (TimeoutError(), "no answer within 60 s"),
        (httpx.RemoteProtocolError("server disconnected"), "server disconnected"),
        (httpx.ConnectError("connection refused"), "connection refused"),
        (httpx.Response(200, content=b'{"choices": [{"te'), "not a whole JSON object"),
        (httpx.Response(200, json=[1]), "not a whole JSON object"),
    ],
)
def test_failures_are_tried_again_and_then_said_in_one_line(answer, said):
    waits = []
    assert client([answer, answer, GOOD], waits).send("/completions", {}) == {"ok": 1}
    assert len(waits) == 2
    assert waits[0] < waits[1] * 2
    with pytest.raises(Unanswered, match=said) as raised:
        client([answer], retries=2).send("/completions", {})
    assert "3 times in a row" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("given", "seconds"), [("7", 7), ("100000", 60), ("-1", 0)])
def test_retry_after_is_obeyed(given, seconds):
    waits = []
    client([httpx.Response(429, headers={"Retry-After": given}), GOOD], waits).send("/x", {})
    assert waits == [seconds]


def test_a_wrong_key_or_path_is_bad_input_and_a_bad_request_is_refused():
    for status in (401, 403, 404):
        with pytest.raises(BadInput, match=f"http://host/v1/x: status {status}: no such model"):
            client([httpx.Response(status, json={"error": {"message": "no such\nmodel"}})]).send("/x", {})
    with pytest.raises(Refused):
        client([httpx.Response(400, json={"detail": "no"})]).send("/x", {})


@pytest.mark.parametrize("seconds", [0.01, -1])
def test_the_deadline_ends_waiting(seconds):
    asking = client([httpx.Response(500)])
    asking.budget = Budget(seconds=seconds)
    with pytest.raises(Spent):
        asking.send("/x", {})


def test_every_attempt_is_paid_for():
    asking = client([httpx.Response(500)])
    asking.budget = Budget(tokens=8)
    with pytest.raises(Spent):
        asking.send("/x", {}, 3)
    assert (asking.requests, asking.budget.asked) == (2, 6)


def test_a_closed_client_ends_what_is_under_way():
    async def never(request):
        await asyncio.sleep(1000)

    asking = Client("http://host", transport=httpx.MockTransport(never))
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(asking.send, "/x")
        time.sleep(0.1)
        asking.close()
        with pytest.raises(CancelledError):
            waiting.result(5)


def test_ctrl_c_does_not_wait_for_answers():
    async def never(request):
        await asyncio.sleep(1000)

    asking, began = Client("http://host", transport=httpx.MockTransport(never)), time.monotonic()
    main = threading.main_thread().ident
    threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        list(asking.map(asking.send, ["/x"] * 3))
    assert time.monotonic() - began < 10


def test_a_server_that_never_stops_sending_is_not_waited_for():
    async def bytewise():
        while True:
            yield b" "
            await asyncio.sleep(0.01)

    with pytest.raises(Unanswered, match=r"no answer within 0.1 s, 1 times"):
        client([httpx.Response(200, content=bytewise())], timeout=0.1, retries=0).send("/x", {})


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http:///v1"])
def test_a_wrong_url_is_bad_input(url):
    with pytest.raises(BadInput, match="URL"):
        Client(url)


def test_the_url_shows_no_password():
    assert Client("http://me:secret@host").shown("Basic bWU6c2VjcmV0, secret") == "Basic [secret], [secret]"
    assert Client("http://me:secret@host:80/v1/").name == "http://host/v1"
    assert Client("host:8000").name == "http://host:8000/v1"


def test_answers_come_in_the_order_of_the_questions():
    asking = client([GOOD], concurrency=4)

    def slow(n):
        time.sleep(0.02 * (3 - n))
        return n

    assert list(asking.map(slow, range(4))) == [0, 1, 2, 3]
