"""A server that lies: none passes, none lasts longer than its deadline, none makes us print what it likes."""

import gzip
import json
import time
import unicodedata

import httpx2 as httpx
import pytest

from tests.simulators.endpoint.fake import Fake

KEY = "sk-Secret.42"
SECONDS, SLACK = 1.0, 2.0
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def trickle(link, before, parts):
    """Sends a part every 0.05 s."""
    link.sendall(before)
    for each in parts:
        link.sendall(each)
        time.sleep(0.05)


def flood(link, before, part):
    """Sends the same for ever, without a pause."""
    link.sendall(before)
    while True:
        link.sendall(part)


def always(part):
    """The same part for ever."""
    while True:
        yield part


BOMB = gzip.compress(bytes(2**26))

WIRES = {
    "is never accepted": None,
    "says nothing": lambda link: time.sleep(60),
    "a header byte by byte": lambda link: trickle(link, HEAD + b"X: ", always(b"x")),
    "a body byte by byte": lambda link: trickle(link, HEAD + b"\r\n", always(b" ")),
    "chunks that do not end": lambda link: trickle(
        link, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", always(b"1\r\n \r\n")
    ),
    "headers that do not end": lambda link: flood(link, HEAD, b"X: " + b"x" * 999 + b"\r\n"),
    "a body that does not end": lambda link: flood(link, HEAD + b"\r\n", b"[" * 2**16),
    "continue, for ever": lambda link: flood(link, b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "redirects to itself": lambda link: link.sendall(
        b"HTTP/1.1 302 Found\r\nLocation: /v1/models\r\nContent-Length: 0\r\n\r\n"
    ),
    "a bomb": lambda link: link.sendall(HEAD + b"Content-Encoding: gzip\r\n\r\n" + BOMB),
    "half of a body": lambda link: link.sendall(HEAD + b'Content-Length: 99\r\n\r\n{"data":'),
    "another protocol": lambda link: link.sendall(b"SSH-2.0-\x1b[31m" + KEY.encode() + b"\r\n"),
    "deep JSON": lambda link: link.sendall(HEAD + b'\r\n{"data":' + b"[" * 10**6),
    "5,000 digits": lambda link: link.sendall(HEAD + b'\r\n{"data":' + b"9" * 5000 + b"}"),
    "later, much later": lambda link: link.sendall(
        b"HTTP/1.1 429 Wait\r\nRetry-After: 1e300\r\nContent-Length: 0\r\n\r\n"
    ),
    "the key in a header": lambda link: link.sendall(
        b"HTTP/1.1 500 " + KEY.encode() + b"\r\n" + KEY.encode() + b" : x\r\nContent-Length: 0\r\n\r\n"
    ),
}


def each_choice(**changes):
    """Changes every choice of an answer."""

    def change(found):
        for choice in found.get("choices", ()):
            choice.update(changes)
        return found

    return change


def each_row(change):
    """Changes every row of log-probabilities, in place."""

    def every(found):
        for choice in found.get("choices", ()):
            for row in (choice.get("logprobs") or {}).get("top_logprobs", ()):
                change(row)
        return found

    return every


def value(number):
    """Every log-probability is this number."""
    return each_row(lambda row: row.update(dict.fromkeys(row, number)))


def usage(**numbers):
    """What was spent, according to the server."""
    return lambda found: {**found, "usage": {**found.get("usage", {}), **numbers}}


NESTED = "x"
for _ in range(300):
    NESTED = [NESTED]

NAME = "\x1b[2J\u202emodel\u2066\nok: nothing found\u2028 " + KEY

ANSWERS = {
    "log-probabilities that are no numbers": value(float("nan")),
    "infinite ones": value(float("inf")),
    "ones above 0": value(0.5),
    "ones that add up to more than 1": value(-0.1),
    "ones of 400 digits": value(10**400),
    "rows that forbid all": value(float("-inf")),
    "rows that forbid what came out": each_row(lambda row: row.update(dict.fromkeys([*row][-1:], -1e9))),
    "rows that are nearly 0": value(-744.0),
    "words for numbers": value("much"),
    "negative usage": usage(completion_tokens=-5),
    "negative prompts": usage(prompt_tokens=-5),
    "absurd usage": usage(completion_tokens=10**30),
    "usage in words": usage(completion_tokens="few"),
    "empty texts": each_choice(text="", logprobs=None, token_ids=[], usage={}),
    "tokens without rows": each_choice(logprobs={"tokens": ["a"] * 9, "top_logprobs": []}),
    "ids that are none": each_choice(prompt_token_ids=["\x00", -1], token_ids=[NESTED]),
    "nested texts": each_choice(text=NESTED),
    "parts of characters": each_choice(text="\ud800", finish_reason="\udfff"),
    "very long texts": each_choice(logprobs={"tokens": ["a"] * 999, "top_logprobs": [{"a": 0.0}] * 999}),
    "too many texts": lambda found: {**found, "choices": found.get("choices", []) * 50},
    "no text": lambda found: {**found, "choices": []},
    "a nested name": lambda found: {"data": [{"id": NESTED}]} if "data" in found else found,
    "a name that paints": lambda found: {"data": [{"id": NAME}]} if "data" in found else found,
    "an error that paints": lambda found: {"error": {"message": NAME * 3}},
}


class Liar(Fake):
    """A server whose answers are changed; it repeats one text, so that what passes is caught."""

    def __init__(self, change):
        super().__init__("repeats")
        self.change = change

    def __call__(self, request):
        answer = super().__call__(request)
        found = self.change(json.loads(answer.content))
        status = 400 if "error" in found else 200
        return httpx.Response(status, content=json.dumps(found).encode())


@pytest.fixture
def refused(command, tmp_path, monkeypatch):
    """Asks a server that lies: what was printed. It is refused in time, in lines that are ours."""
    monkeypatch.setenv("MY_KEY", KEY)
    path = tmp_path / "rare.toml"
    path.write_text("timeout = 0.4\nretries = 1\n")

    def asked(url, *more):
        given = "--seconds", SECONDS, "--tokens", 3000, "--key-from", "MY_KEY", "--settings", path
        for _ in range(3):  # a busy machine may stall
            began = time.monotonic()
            status, out, err = command("endpoint", url, *given, *more)
            took = time.monotonic() - began
            if took < SECONDS + SLACK:
                break
        assert took < SECONDS + SLACK
        assert status in (1, 2, 3)
        assert len(err.splitlines()) == (status == 2 or (status == 3 and "--json" in more and bool(err)))
        assert not any(
            unicodedata.category(each) in ("Cc", "Cf", "Zl") for each in (out + err).replace("\n", "")
        )
        assert "secret.42" not in (out + err).lower()
        assert "nothing found\n" not in out + err
        return out + err

    return asked


@pytest.mark.parametrize("mode", WIRES)
@pytest.mark.sampled(2)
def test_a_connection_that_lies(raw, refused, mode):
    refused(raw(WIRES[mode]))


@pytest.mark.parametrize("mode", ANSWERS)
@pytest.mark.sampled(2)
def test_an_answer_that_lies(serve, refused, mode):
    refused(serve(Liar(ANSWERS[mode])))


@pytest.mark.parametrize("mode", ["a name that paints", "an error that paints", "ones above 0"])
def test_an_answer_that_lies_as_json(serve, refused, mode):
    refused(serve(Liar(ANSWERS[mode])), "--json")


def test_the_key_is_not_shown_however_it_is_spelled(refused, serve):
    """In other letters, and with characters between its own that are not printed."""
    echo = "your key " + "\u200b".join(KEY.upper()) + " is wrong"
    said = refused(serve(Liar(lambda found: {"error": echo})))
    assert "your key [secret] is wrong" in said


def test_no_more_tokens_are_asked_for_than_granted(command, serve, tmp_path):
    """Counted by the server, also where it fails half of the time, gives one text, or refuses many."""
    path = tmp_path / "rare.toml"
    path.write_text("concurrency = 3\nretries = 9\n")

    class Few(Fake):
        def __call__(self, request):
            answer = super().__call__(request)
            if request.url.path.endswith("/models"):
                return answer
            n = self.seen[-1]["n"]
            if self.fault == "refuses many" and n > 3:
                return httpx.Response(400, json={"error": "n is too large"})
            found = json.loads(answer.content)
            if self.fault == "gives one":
                found["choices"] = [each for each in found["choices"] if each["index"] % n == 0]
            return httpx.Response(answer.status_code, content=json.dumps(found))

    for fault in ("", "gives one", "refuses many"):
        fake = Few(fault)
        for tokens in (40, 901):
            fake.seen.clear()
            command("endpoint", serve(fake), "--tokens", tokens, "--settings", path)
            several = [len(x["prompt"]) if isinstance(x["prompt"][0], list) else 1 for x in fake.seen]
            asked = [x["n"] * x["max_tokens"] * k for x, k in zip(fake.seen, several, strict=True)]
            assert tokens / 2 < sum(asked) <= tokens
