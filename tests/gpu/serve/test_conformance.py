"""Verifiers behind a small server, tested over HTTP: lossless ones pass, lossy ones are noticed."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("uvicorn")

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.verify import VERIFIERS, named
from draftproof.simulators.endpoint.client import Client
from draftproof.simulators.endpoint.compare import Comparison
from draftproof.simulators.endpoint.laws import PLAIN, Setting
from draftproof.simulators.endpoint.run import Plan, Run
from tests.gpu.lossy import LOSSY
from tests.gpu.serve.server import Server, local

SPECIMENS = {each.verifier.name: each.verifier for each in LOSSY}
DRAFTS = {
    "chain": "chain:2",
    "tree without replacement": "tree:2x2",
    "tree with replacement": "tree+:2x2",
    "stratified": "strata:2x2",
    "deterministic": "top-k:2x2x4",
}
FAR = "from importlib import _bootstrap_extern"
"""A prompt after which a step of `hsd-released` on chain:2 is a total variation of 0.057 off the target."""

NAMES = "a, b = "
"""A prompt after which, with top-k 3 and a drafter at temperature 2, a step of `unscaled-residual` on chain:2
is a total variation of 0.052 off the target.
"""

RANGE = "for i in range("
"""A prompt after which, with a drafter at temperature 1/2, `specinfer-on-distinct` on two children is a total
variation of 0.41 off the target in one token (with one at temperature 1: 0.016).
"""


@pytest.fixture(scope="module")
def shipped():
    """The pair, loaded once."""
    return pair(None, None, "cpu")


def served(shipped, verifier, draft, heat=None):
    """A server in a thread: a context with its URL."""
    return local(Server(*shipped, verifier, structure(draft), heat))


def asked(url, tokens=20_000, **plan):
    """The report on a server."""
    return Run(Client(url), Plan(tokens=tokens, detect=0.9, **plan), lambda *_: None).go()


@pytest.mark.parametrize("settings", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_short_run_of_a_lossless_verifier_finds_nothing(shipped, settings):
    with served(shipped, named("block"), "chain:3") as url:
        report = asked(url, tokens=6000 if settings else 600, choices=16, settings=settings)
    verdicts = {each.name: each.verdict for each in report.results}
    assert report.status == 0
    skipped = {name for name, verdict in verdicts.items() if verdict == "skipped"}
    assert skipped == ({"json_schema"} if settings else set())
    judged = [each for each in report.results if each.name not in skipped]
    assert judged
    assert not [each for each in judged if each.verdict != "not rejected"]


@pytest.mark.slow
def test_a_short_run_by_chat(shipped):
    with served(shipped, SPECIMENS["typical"], "chain:3") as url:
        report = Run(Client(url), Plan(tokens=8000, settings=False), lambda *_: None).go(chat=True)
    assert report.found
    assert set(report.found) <= {"law", "one by one"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(VERIFIERS))
def test_a_lossless_verifier_passes(shipped, name):
    verifier = named(name)
    draft = next((DRAFTS[kind] for kind in verifier.drafts if kind in DRAFTS), "paths+:2x2")
    with served(shipped, verifier, draft) as url:
        report = asked(url)
    assert (report.status, report.found) == (0, [])
    print(f"\n{name} on {draft}: {report}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "draft", "prompt", "heat", "setting", "tokens"),
    [
        ("p-for-residual", "chain:4", Plan().prompts[0], None, PLAIN, 20_000),
        ("typical", "chain:4", Plan().prompts[0], None, PLAIN, 20_000),
        ("joint-product", "chain:4", Plan().prompts[0], None, PLAIN, 20_000),
        ("greedy-block-alone", "chain:4", FAR, None, PLAIN, 60_000),
        ("hsd-released", "chain:2", FAR, None, PLAIN, 20_000),
        ("hsd-released", "chain:2", FAR, None, Setting(top_k=64), 20_000),
        ("unscaled-residual", "chain:2", NAMES, 2.0, Setting(top_k=3), 20_000),
        ("specinfer-on-distinct", "tree:2x2", RANGE, 0.5, PLAIN, 20_000),
    ],
)
def test_a_lossy_verifier_is_noticed(shipped, name, draft, prompt, heat, setting, tokens):
    with served(shipped, SPECIMENS[name], draft, heat) as url:
        length = 2 if draft == "chain:2" else 4
        plan = {"prompts": (prompt,), "settings": False, "length": length, "setting": setting}
        report = asked(url, tokens=tokens, **plan)
    print(f"\n{name} on {draft}: {report}")
    assert report.found
    assert set(report.found) <= {"law", "one by one"}


@pytest.mark.slow
def test_two_servers_are_compared(shipped):
    plan = Plan(tokens=20_000, settings=False, detect=0.9)
    with (
        served(shipped, named("block"), "chain:3") as one,
        served(shipped, named("token"), "chain:2") as other,
    ):
        same = Comparison((Client(one), Client(other)), plan, lambda *_: None).go()
    with (
        served(shipped, SPECIMENS["typical"], "chain:3") as one,
        served(shipped, named("token"), "chain:2") as other,
    ):
        differ = Comparison((Client(one), Client(other)), plan, lambda *_: None).go()
    print(f"\n{same}\n{differ}")
    assert same.status == 0
    assert differ.found == ["law"]
