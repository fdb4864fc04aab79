"""The run on two servers."""

import pytest

from draftproof.simulators.endpoint.compare import Comparison
from draftproof.simulators.endpoint.run import Plan
from tests.simulators.endpoint.fake import Fake


def compared(one, other, **plan):
    """A short run on two fake servers."""
    plan = {"tokens": 6000, "choices": 8, "prompts": ("x", "y"), "settings": False, "detect": 0.9, **plan}
    clients = one.client(), other.client()
    return Comparison(clients, Plan(**plan), lambda *_: None).go()


def test_equal_servers_pass():
    report = compared(Fake(), Fake(seed=1), settings=True, tokens=9000)
    assert (report.status, report.found) == (0, [])
    assert {"A/A", "law", "top_p", "stop"} <= {each.name for each in report.results}


def test_tokens_of_many_spaces_are_tokens():
    report = compared(Fake("spaces, no rows"), Fake("spaces, no rows", seed=1))
    assert not report.stopped
    assert report.status == 0


@pytest.mark.parametrize(
    ("one", "name", "said"),
    [
        (Fake("lossy", bias=0.4), "law", "different laws"),
        (Fake("greedy no rows"), "law", "different laws"),
        (Fake("repeats"), "law", ""),
        (Fake("ignores top_p"), "top_p", "differ under top_p"),
    ],
)
@pytest.mark.sampled(2)
def test_servers_that_differ_are_told_apart(one, name, said):
    report = compared(one, Fake(seed=1), settings="top" in name, tokens=30_000)
    assert report.status == 1
    assert name in report.found
    assert any(said in each.said for each in report.results)


def test_twenty_pairs_of_equal_servers_are_not_rejected():
    found = [compared(Fake(seed=n), Fake(seed=99 + n), tokens=1000, error=0.5).found for n in range(20)]
    assert sum(map(bool, found)) <= 10


def test_a_server_that_changes_is_said_to_differ_from_itself():
    fake, asked = Fake(), []

    def answer(body, right=fake.answer):
        asked.append(1)
        fake.fault = "greedy" if len(asked) % 2 else ""
        return right(body)

    fake.answer = answer
    report = compared(fake, Fake(seed=1))
    assert report.found == ["A/A"]


def test_what_has_no_pair_of_answers_is_not_judged():
    report = compared(Fake(), Fake(seed=1), settings=True, tokens=300)
    verdicts = {each.name: each for each in report.results}
    assert (verdicts["top_p"].verdict, verdicts["json_schema"].verdict) == ("not judged", "not judged")
    assert all(each.runs for each in report.results if each.verdict == "not rejected")
    assert report.status == 3
