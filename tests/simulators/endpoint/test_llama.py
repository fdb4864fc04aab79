"""llama.cpp's server, asked as it is: its habits are learned, and none is called a fault."""

import pytest

from draftproof.simulators.endpoint.client import Spent
from draftproof.simulators.endpoint.run import Plan, Run
from draftproof.simulators.endpoint.server import Server
from tests.simulators.endpoint.fake import Fake
from tests.simulators.endpoint.llama import Llama


def ran(fake, **plan):
    """A short run."""
    plan = {"tokens": 6000, "prompts": ("x", "abc"), "detect": 0.5, **plan}
    return Run(fake.client(), Plan(**plan), lambda *_: None).go()


@pytest.mark.parametrize("drafts", [0, 3])
def test_a_right_server_passes_and_everything_is_judged(drafts):
    fake = Llama(drafts=drafts)
    report = ran(fake)
    assert (report.status, report.found) == (0, [])
    assert {each.verdict for each in report.results} == {"not rejected"}
    assert sum(each.runs for each in report.results if each.name in ("law", "one by one")) > 1500
    assert [each["n"] for each in fake.seen if each["n"] > 4] == [32]  # it is asked once for too many
    assert report.tokens <= 6000


@pytest.mark.parametrize("drafts", [0, 3])
def test_tokens_that_are_parts_of_characters_are_left_out_without_a_false_word(drafts):
    fake = Llama(drafts=drafts)
    fake.parts = True
    report = ran(fake)
    assert (report.status, report.found) == (0, [])
    assert all(each.runs for each in report.results)


@pytest.mark.parametrize("drafts", [0, 3])
def test_twenty_right_servers_are_not_rejected(drafts):
    """At an error of a half, at most half of the runs may reject."""
    found = [ran(Llama(seed=n, drafts=drafts), tokens=400, error=0.5).found for n in range(20)]
    assert sum(map(bool, found)) <= 10


@pytest.mark.parametrize(
    ("fault", "name"),
    [("lossy", "law"), ("greedy", "greedy"), ("ignores top_p", "top_p"), ("goes on", "stop")],
)
@pytest.mark.parametrize("drafts", [0, 3])
@pytest.mark.sampled(4)
def test_faults_are_named(fault, name, drafts):
    report = ran(Llama(fault, drafts=drafts, bias=0.3), tokens=8000, settings=fault != "lossy")
    assert name in report.found


def test_a_fault_of_requests_alone_is_found_apart_from_that_of_batches():
    """Its signs may be opposite (vllm#55005), so that together they might not show."""
    alone = ran(Fake("lossy alone", bias=0.4), tokens=12_000, settings=False)
    assert alone.found == ["one by one"]


def test_a_row_is_asked_for_once():
    fake = Llama(drafts=3)
    server = Server(fake.client())
    samples = server.with_rows("abc", server.ask("abc", count=3, length=4))
    assert all(row for each in samples for row in each.rows)
    before = len(fake.seen)
    assert server.with_rows("abc", samples) == samples
    server.with_rows("abc", server.ask("abc", count=1, length=1))
    assert len(fake.seen) == before + 1


def test_fewer_texts_than_asked_for_are_learned_from():
    class One(Fake):
        def answer(self, body):
            return super().answer({**body, "n": 1})

    fake = One()
    server = Server(fake.client(), most=16)
    assert server.most == 1
    assert len(server.ask("x", count=3)) == 3
    assert [each["n"] for each in fake.seen][-3:] == [1, 1, 1]


def test_a_prompt_that_is_read_otherwise_is_not_given_back_as_ids():
    class Begins(Llama):
        def ids(self, prompt):
            return [0, *super().ids(prompt)] if len(self.seen) % 2 else super().ids(prompt)

    server = Server(Begins(drafts=3).client())
    [sample] = server.ask("abc", length=3)
    assert sample.prompt_ids is None or len(sample.prompt_ids) == sample.read


class Forgets(Llama):
    """Its cache has other tokens for a prompt that is given back, so that the rows after it are wrong."""

    always = False

    def choice(self, body, ids, tokens):
        given_back = body["max_tokens"] == 1 and isinstance(body["prompt"], list)
        if given_back and (self.always or body.get("cache_prompt", True)):
            ids = [*ids[:-1], (ids[-1] + 5) % 11]
        return super().choice(body, ids, tokens)


@pytest.mark.parametrize("always", [False, True])
def test_rows_are_asked_for_again_without_the_cache_before_a_setting_is_rejected(always, monkeypatch):
    monkeypatch.setattr(Forgets, "always", always)
    report = ran(Forgets(), tokens=20_000)
    assert bool(report.found) == always
    for each in report.results:
        if each.name == "log-probabilities" and not always:
            assert "among plain requests themselves" in each.said


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("settings", [False, True])
def test_rows_of_speculated_texts_are_asked_for_again_before_the_law_is_rejected(
    always, settings, monkeypatch
):
    monkeypatch.setattr(Forgets, "always", always)
    report = ran(Forgets(drafts=3), tokens=8_000, settings=settings)
    assert bool(report.found) == always
    assert report.tokens <= 8_000
    assert {each.verdict for each in report.results if each.name == "law"} <= {"not rejected", "rejected"}


def out_of_time(*_):
    raise Spent


def test_a_rejection_that_cannot_be_confirmed_in_time_is_not_one(monkeypatch):
    fake = Forgets(drafts=3)
    run = Run(fake.client(), Plan(tokens=8_000, prompts=("x", "abc"), settings=False), lambda *_: None)
    monkeypatch.setattr(Server, "again", out_of_time)
    report = run.go()
    assert (report.status, report.found) == (3, [])
    assert {each.verdict for each in report.results} == {"not judged"}
