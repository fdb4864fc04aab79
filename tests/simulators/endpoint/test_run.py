"""The run on one server: right servers pass, every fault is named, and evidence is honest."""

import json

import httpx2 as httpx
import pytest

from draftproof.simulators.endpoint.checks import SETTINGS, checked, json_schema, of_setting
from draftproof.simulators.endpoint.run import Plan, Run
from draftproof.simulators.endpoint.server import Server, _spells
from draftproof.theory.errors import BadInput
from tests.simulators.endpoint.fake import Fake


def quiet(done, total, doing):
    """No progress."""


def ran(fake, client=None, **plan):
    """A short run on a fake server."""
    plan = {"tokens": 3000, "choices": 16, "prompts": ("x", "y"), "detect": 0.5, **plan}
    return Run(client or fake.client(), Plan(**plan), quiet).go()


def test_a_right_server_passes_every_test():
    report = ran(Fake(), tokens=5000)
    assert (report.status, report.found) == (0, [])
    names = {each.name: each for each in report.results}
    assert names["json_schema"].verdict == "skipped"  # the fake refuses it
    assert {each.verdict for each in report.results if each.name != "json_schema"} == {"not rejected"}
    assert 0 < names["law"].detectable < 0.5
    assert 4900 <= report.tokens <= 5000


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("greedy", "greedy"),
        ("repeats", "repeats"),
        ("copies", "copies"),
        ("ignores top_p", "top_p"),
        ("warm zero", "temperature 0"),
        ("goes on", "stop"),
        ("overruns", "max_tokens"),
        ("other rows", "log-probabilities"),
        ("lossy", "law"),
    ],
)
@pytest.mark.sampled(3)
def test_every_fault_is_named(fault, name):
    tokens = 8000 if fault in ("lossy", "other rows") else 4000
    report = ran(Fake(fault, bias=0.3), tokens=tokens, settings=fault != "lossy")
    assert report.status == 1
    assert name in report.found
    assert set(report.found) <= {"law", name} if fault != "other rows" else True


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_acts_wrongly_is_named(name):
    """As all are if they are ignored, but for the repetition penalty: here it is also for rejected drafts."""
    fault = "penalises drafts" if name == "repetition_penalty" else f"ignores {name}"
    verdicts = [
        of_setting(name, Server(Fake(each).client()), ("x", "y"), 400, 4, 1e-4).verdict
        for each in (fault, "")
    ]
    assert verdicts == ["rejected", "not rejected"]


@pytest.mark.parametrize("strict", [False, True])
def test_twenty_right_servers_are_not_rejected(strict):
    """At an error of a half, at most half of the runs may reject."""
    found = [ran(Fake(seed=seed, strict=strict, shown=6), tokens=400, error=0.5).found for seed in range(20)]
    assert sum(map(bool, found)) <= 10


@pytest.mark.slow
def test_two_hundred_right_servers_are_rejected_once_at_most():
    found = [each for seed in range(200) for each in ran(Fake(seed=seed), tokens=2000).found]
    assert len(found) <= 1


def test_a_strict_server_without_extensions_is_tested_on_listed_tokens():
    fake = Fake(strict=True, shown=5)
    report = ran(fake, settings=False, client=fake.client(concurrency=4))
    assert report.status == 0
    assert "ignore_eos" not in fake.seen[-1]
    assert fake.seen[-1]["logprobs"] == 5
    [rows] = [each for each in report.results if each.name == "log-probabilities"]
    assert rows.runs > 0  # although texts are given back as texts, several at a time


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sampled(3)
def test_rounding_that_differs_from_request_to_request_is_no_fault(seed):
    """Neither of the rows nor of filters, whose bounds move with it."""
    report = ran(Fake("rounds", seed=seed), tokens=8000)
    assert report.found == []
    assert {each.verdict for each in report.results if each.name != "json_schema"} == {"not rejected"}
    [rows] = [each for each in report.results if each.name == "log-probabilities"]
    assert rows.verdict == "not rejected"
    assert "among plain requests" in rows.said


def test_without_log_probabilities_it_is_undecided():
    report = ran(Fake("no rows"))
    assert report.status == 3
    assert "--against" in report.stopped


def test_a_server_that_stops_answering_keeps_what_was_measured():
    fake = Fake()
    answer = fake.answer
    fake.answer = lambda body: answer(body) if len(fake.seen) < 40 else None  # half a document
    report = ran(fake)
    assert report.status == 3
    assert "not a whole JSON object" in report.stopped
    law = next(each for each in report.results if each.name == "law")
    assert law.runs > 100


def test_ctrl_c_keeps_what_was_measured():
    fake = Fake()

    def interrupt(done, total, doing):
        if len(fake.seen) >= 30:
            raise KeyboardInterrupt

    plan = Plan(("x", "y"), 800, length=1, choices=4, settings=False)
    report = Run(fake.client(), plan, interrupt).go()
    assert (report.status, report.stopped) == (3, "interrupted")
    assert next(each.runs for each in report.results if each.name == "law") > 50


def test_a_server_that_never_answers_is_bad_input():
    fake = Fake()
    fake.answer = lambda body: None
    with pytest.raises(BadInput, match="JSON object, 5 times in a row"):
        ran(fake)


class Says(Fake):
    """A server whose finished texts under a schema are all one text."""

    text = ""

    def __call__(self, request):
        if b"response_format" not in request.content:
            return super().__call__(request)
        assert request.url.path == "/v1/chat/completions"  # completions have no schemas
        choice = {"message": {"content": self.text}, "finish_reason": "stop"}
        return httpx.Response(200, json={"choices": [choice] * json.loads(request.content)["n"]})


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"ok": true, "n": 2}', "not rejected"),
        ("{}", "not rejected"),  # the schema requires no key
        ('{"n": 1, "more": []}', "not rejected"),  # and forbids none
        ('{"ok": 1}', "rejected"),
        ('{"n": 3}', "rejected"),
        ("[]", "rejected"),
        ('{"ok": true', "rejected"),
    ],
)
def test_texts_are_judged_by_the_schema_that_was_sent(text, verdict):
    fake = Says()
    fake.text = text
    server = Server(fake.client())
    assert checked("json_schema", json_schema, server, ["x"]).verdict == verdict


class Lies(Fake):
    """A server that repeats one text, with values that are no log-probabilities."""

    value: float | int = 0

    def __init__(self):
        super().__init__("repeats")

    def __call__(self, request):
        answer = super().__call__(request)
        found = json.loads(answer.content)
        for choice in found.get("choices", ()):
            rows = choice["logprobs"]["top_logprobs"] if choice["logprobs"] else ()
            choice["logprobs"] = choice["logprobs"] and {
                **choice["logprobs"],
                "top_logprobs": [dict.fromkeys(row, self.value) for row in rows],
            }
        return httpx.Response(answer.status_code, content=json.dumps(found))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.0, 0.0, -0.1])
def test_values_that_are_no_log_probabilities_are_no_rows(value):
    fake = Lies()
    fake.value = value
    report = ran(fake, tokens=300)
    assert (report.status, report.verdict) == (3, "undecided")
    assert "no log-probabilities" in report.stopped


class Misnames(Fake):
    """A server whose log-probabilities name likely tokens in place of those of its text. mlx-lm does."""

    def choice(self, body, ids, tokens):
        made = super().choice(body, ids, tokens)
        if made["logprobs"]:
            rows = made["logprobs"]["top_logprobs"]
            made["logprobs"]["tokens"] = [max(each, key=each.__getitem__) for each in rows]
        return made


def test_log_probabilities_of_other_tokens_are_no_rows():
    report = ran(Misnames(strict=True))
    assert report.status == 3
    assert "no log-probabilities" in report.stopped


@pytest.mark.parametrize(
    ("tokens", "text", "spelled"),
    [
        ([" a", " cat", "s"], " a cats", True),
        ([" a", " cat", "s"], " a c", True),  # cut at a stop string
        ([" a", " c"], " a cats", True),  # llama.cpp: tokens before it are missing
        (["<think>", "so", "</think>", " a"], " a", True),
        (["token_id:4"], " a", True),
        (["\N{REPLACEMENT CHARACTER}", "x"], "\N{SNOWMAN}x", True),
        ([".", "the", " "], "line.", False),
    ],
)
def test_whether_log_probabilities_name_the_tokens_of_a_text(tokens, text, spelled):
    assert _spells({"tokens": tokens}, text) is spelled
    assert _spells({"content": [{"token": each} for each in tokens]}, text) is spelled


def test_a_number_of_400_digits_is_an_answer_that_cannot_be_read():
    fake = Lies()
    fake.value = 10**400
    with pytest.raises(BadInput, match="an answer without choices"):
        ran(fake, tokens=300)


@pytest.mark.parametrize("tokens", [60, 200, 700])
def test_what_judged_nothing_is_not_called_found_nothing(tokens):
    report = ran(Fake(), tokens=tokens, detect=0.05)
    assert (report.status, report.verdict) == (3, "undecided")
    assert {bool(each.runs) for each in report.results if each.verdict == "not rejected"} <= {True}
    assert not any(each.runs for each in report.results if each.verdict == "not judged")
    assert f"{report.detectable:.2g} would have shown" in str(report).splitlines()[0]
