"""What new users met: wrong calls, generators of their own, words of the report."""

import inspect
import json
import random
import secrets
import time
from pathlib import Path

import numpy as np
import pytest

from draftproof.simulators import audit, screen
from draftproof.simulators.audit import isolation, load
from draftproof.simulators.audit.judge.report import Finding, Report
from draftproof.simulators.audit.stand_ins.replaced import STAND_INS
from draftproof.simulators.commands.audit import audit as command
from draftproof.simulators.commands.entry import enter
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from tests.problems import TOY
from tests.simulators.audit import foreign

SMALL = {"vocab": 2, "depth": 1}
STATE = np.random.RandomState(0)
GENERATOR = np.random.default_rng(0)
PYTHON = random.Random(0)


def verified(p, q, x, uniform, draw):
    """Token verification."""
    for i, t in enumerate(x):
        if not uniform() < p[i, t] / q[i, t]:
            return [*x[:i], draw(foreign.residual(p[i], q[i]))]
    return [*x, draw(p[-1])]


def by_state(p, q, x):
    return verified(p, q, x, STATE.random_sample, lambda row: STATE.choice(len(row), p=row))


def by_generator(p, q, x):
    return verified(p, q, x, GENERATOR.random, lambda row: GENERATOR.choice(len(row), p=row))


def by_python(p, q, x):
    return verified(p, q, x, PYTHON.random, lambda row: PYTHON.choices(range(len(row)), row)[0])


def by_state_made_inside(p, q, x):
    state = np.random.RandomState()
    return verified(p, q, x, state.rand, lambda row: state.choice(len(row), p=row))


def biased_by_state(p, q, x):
    return [*x, STATE.choice(len(p[-1]), p=p[-1])]


@pytest.mark.parametrize("verify", [by_state, by_generator, by_python, by_state_made_inside])
def test_generators_that_the_module_made_are_followed(verify):
    report = audit.examine(verify)
    assert report.lossless, report
    assert all(type(each) in STAND_INS for each in (STATE, GENERATOR, PYTHON))  # the real ones are back


def test_a_bias_with_a_generator_of_the_module_is_found_exactly():
    report = audit.examine(biased_by_state, **SMALL)
    assert report.lossless is False
    assert report.wrong is not None


class Hidden:
    """Token verification whose generator no name of the module holds."""

    def __init__(self):
        self.state = np.random.RandomState(1)

    def __call__(self, p, q, x):
        return verified(p, q, x, self.state.random_sample, lambda row: self.state.choice(len(row), p=row))


def test_a_generator_that_is_not_followed_is_named_as_the_reason_and_not_called_biased():
    made = Hidden()
    report = audit.examine(made, runs=300)
    assert report.lossless is None
    assert "generator of its own" in report.undecided
    # The first draft is always accepted and followed by the only token: only the others show chance.
    p = Table.exact(2, {(): ["1/2", "1/2"], (0,): [1, 0], (1,): ["1/2", "1/2"]})
    one = Instance(p, Table.exact(2, {(): ["1/2", "1/2"]}), Chain(1))
    assert audit.examine(made, instances=[one], runs=0).lossless is None


def test_secrets_are_followed_or_refused_by_name():
    def even(p, q, x):
        return [secrets.choice([0, 1])]

    def bits(p, q, x):
        return [secrets.randbits(1)]

    def text(p, q, x):
        return [secrets.token_bytes(1)[0] % 2]

    uniform = Table.exact(2, {(): ["1/2", "1/2"]})
    for verify in (even, bits):
        assert audit.examine(verify, instances=[Instance(uniform, uniform, Chain(1))], edges=False).lossless
    assert "randbytes" in audit.examine(text, runs=0, **SMALL).undecided


@pytest.mark.parametrize(
    ("verify", "tested"),
    [
        (lambda p, q, x, rng: [int(rng.normal() > 9)], True),
        (lambda p, q, x: [int(random.betavariate(1, 1) > 9)], False),
    ],
)
def test_a_random_function_without_stand_in_is_named_and_numpys_is_tested(verify, tested):
    report = audit.examine(verify, runs=200, **SMALL)
    assert "cannot be enumerated here" in report.undecided
    assert (report.sampled is not None) is tested


def test_why_it_takes_long_is_said_at_once():
    lines = []

    class Observer(audit.judge.examine.Observer):
        def progress(self, done, total, doing):
            lines.append((total, doing))

    audit.examine(Hidden(), runs=200, observer=Observer(), **SMALL)
    reasons = [doing for total, doing in lines if not total]
    assert len(reasons) == 1
    assert reasons[0].startswith("cannot be enumerated (the same coins give different results")
    assert "testing random runs, up to 60 s" in reasons[0]


NETS = """
import torch

class Net(torch.nn.Module):
    def forward(self, logits, tokens):
        return tokens

class Good(torch.nn.Module):
    def forward(self, p, q, x):
        return torch.multinomial(p[0], 1)

class Passes:
    def __call__(self, *args, **more):
        return self.run(*args, **more)

    def run(self, logits):
        return logits

def wrapped(*args):
    return Passes().run(*args)

net, good, passes = Net(), Good(), Passes()

def broken_inside(p, q, x, rng):
    return Passes().run() if x[0] else [0]

class Drafts:
    def __call__(self, p, q, x, rng):
        return [0]

    def draft(self, row):
        return 0
"""


@pytest.mark.parametrize("name", ["Net", "net", "Passes", "passes", "wrapped", "Drafts"])
@pytest.mark.sampled(3)
def test_a_call_with_other_arguments_is_bad_input(name, tmp_path, capfd):
    pytest.importorskip("torch")
    path = tmp_path / "nets.py"
    path.write_text(NETS)
    verify = load.load(f"{path}:{name}")
    with pytest.raises(BadInput, match=r"must take|not audited") as raised:
        audit.examine(verify, **SMALL)
    assert "\n" not in str(raised.value)
    if name == "net":
        assert enter_audit(f"{path}:{name}") == 2
        out, err = capfd.readouterr()
        assert not out
        assert len(err.strip().splitlines()) == 1


def test_a_module_is_called_by_its_forward_and_a_fault_inside_stays_one(tmp_path):
    pytest.importorskip("torch")
    path = tmp_path / "nets.py"
    path.write_text(NETS)
    for name in ("good", "Good"):
        report = audit.examine(load.load(f"{path}:{name}"), **SMALL)
        assert (report.lossless, report.adapter) == (True, "torch function")
    report = audit.examine(load.load(f"{path}:broken_inside"), **SMALL)
    assert (report.lossless, report.findings[0].kind) == (False, "raises")


def enter_audit(*arguments):
    import click

    return enter(click.Group("draftproof", [command]), ["audit", *arguments, "--vocab", "2", "--depth", "1"])


def test_findings_at_the_edges_are_one_line_with_their_probability():
    report = audit.examine(foreign.unguarded, **SMALL)
    [line] = [line for line in report.lines() if "finding" in line]
    assert line.startswith("  findings at the edges (such a coin comes once in 2^24 tosses")
    assert "equal but for rounding" in line
    twice = Report("f", "g", found={"a": Finding("b", "c", edge=True), "d": Finding("e", "f", edge=True)})
    assert len(twice.lines()) == 2


def test_not_lossless_is_followed_by_the_reason():
    def verdict(verify):
        return str(audit.examine(verify, **SMALL)).splitlines()[0]

    assert verdict(biased_by_state).endswith("NOT lossless: its law is not the target's")
    assert verdict(foreign.raises).endswith("fails: it raises with probability 0.333")
    assert verdict(foreign.hashes_a_coin).endswith(
        "NOT lossless, statistical: a test on random runs rejects the target's law"
    )
    hangs = str(audit.examine(foreign.hangs, seconds=0.2, **SMALL))
    assert hangs.startswith("hangs (numpy function): NOT lossless: it hangs")


def test_a_process_that_died_is_said_in_plain_words(capfd):
    name = "tests.simulators.audit.foreign:leaves_at_once"
    assert enter_audit(name) == 1
    assert capfd.readouterr().out.startswith(f"{name} (process ended early): NOT lossless: it dies\n")
    assert enter_audit(name, "--json") == 1
    assert json.loads(capfd.readouterr().out)["lossless"] is False


def test_what_is_loaded_is_shown_before_it_is_loaded(tmp_path, monkeypatch):
    path = tmp_path / "slow.py"
    path.write_text("import time\ntime.sleep(0.5)\ndef verify(p, q, x, rng):\n    return [0]\n")
    shown = []

    class Bar:
        def __enter__(self):
            return self

        def __exit__(self, *raised):
            pass

        def add_task(self, description, total):
            return 0

        def update(self, task, description, **counts):
            shown.append((time.monotonic(), description))

    monkeypatch.setattr(screen, "progress", Bar)
    enter_audit(f"{path}:verify")
    (loading, first), (auditing, second) = shown[:2]
    assert first == f"loading {path}:verify"
    assert second == "auditing"
    assert auditing - loading > 0.5


def test_an_instance_without_a_name_is_named_so():
    nameless = Instance(TOY.target, TOY.proposal, TOY.draft)
    text = str(audit.examine(foreign.good, instances=[nameless], edges=False))
    assert "(on )" not in text
    assert "an instance without a name" in text


def test_importing_the_audit_is_light():
    import subprocess
    import sys

    code = "import sys, draftproof.simulators.audit; print({'torch', 'sympy', 'scipy'} & set(sys.modules))"
    root = Path(__file__).parents[3]
    found = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_no_part_of_the_judge_asks_for_a_kind_of_target():
    from draftproof.simulators.audit.judge import edges, exact, report, samples

    for module in (edges, exact, report, samples, isolation):
        assert "Loop" not in inspect.getsource(module)
        assert "Tree" not in inspect.getsource(module)


def test_a_module_that_a_call_lacks_is_no_fault_of_the_function():
    def verify(target_probs, draft_probs, draft_tokens, rng):
        import a_module_that_nobody_has  # type: ignore[import-not-found]

        return a_module_that_nobody_has.verify(target_probs, draft_probs, draft_tokens, rng)

    with pytest.raises(BadInput, match="needs a module that is not here: No module named 'a_module_that"):
        audit.examine(verify)
