"""Hostile and careless functions: none is called lossless that is not, and none outlives its limit."""

import subprocess
import sys

import numpy as np
import pytest

from draftproof.simulators import audit
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from tests.simulators.audit import hostile
from tests.simulators.audit.hostile import BAD, ENDLESS, GOOD

QUICK = {"runs": 300, "seconds": 2.0, "edges": False, "smallest": False}
READ = (
    "raises exit",
    "returns large number",
    "returns negative",
    "returns nested",
)  # these are read, or end the call
SMALL = {**QUICK, "vocab": 2, "depth": 1}


def test_how_many_there_are():
    assert len(BAD) + len(GOOD) + len(ENDLESS) >= 170


@pytest.mark.parametrize("name", BAD)
@pytest.mark.sampled(6)
def test_a_bad_one_is_not_called_lossless(name):
    if name.startswith(("raises ", "returns ")) and name not in READ:
        with pytest.raises(BadInput, match="not audited"):  # every call: this is no law
            audit.examine(BAD[name], **QUICK)
        return
    report = audit.examine(BAD[name], **(SMALL if ", seed: " in name else QUICK))
    assert not report.lossless, report
    assert report.findings or report.wrong or report.undecided  # it says why


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.sampled(4)
def test_a_good_one_is_not_called_lossy(name):
    one = {"instances": [scenario("toy", Chain(1), 2)]} if name.startswith("coin by ") else {}
    report = audit.examine(GOOD[name], **{**SMALL, **one})
    assert report.lossless is not False, report
    assert report.lossless or report.undecided


@pytest.mark.parametrize(
    "name", ["default_rng, small seed drawn", "unseeded", "of_the_module", "seeded once"]
)
def test_coins_that_can_be_followed_are(name):
    assert audit.examine(GOOD[name], **SMALL).lossless


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the finaliser
@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.sampled(4)
def test_what_never_ends_is_stopped(name):
    report = audit.examine(ENDLESS[name], **{**QUICK, "seconds": 0.3})
    assert report.lossless is False
    assert report.findings


def test_a_constant_seed_has_the_witness_of_two_calls():
    report = audit.examine(BAD["default_rng, seed: constant"])
    assert report.wrong is not None
    assert "seeds its own generator" in report.found
    assert "default_rng(0)" in str(report)


def test_samples_do_not_hide_a_constant_seed():
    report = audit.examine(BAD["default_rng, seed: constant"], statistical=True, vocab=5, runs=300)
    assert not report.lossless
    report = audit.examine(GOOD["unseeded"], statistical=True, vocab=5, runs=300)
    assert report.lossless


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("cast", [False, True])
def test_coins_of_a_narrow_type_are_refused_unless_it_is_named(dtype, cast):
    torch = pytest.importorskip("torch")
    narrow = getattr(torch, dtype)

    def verify(p, q, x):
        coin = (torch.rand(1).to(narrow) if cast else torch.rand(1, dtype=narrow)).float()[0]
        return [int(x[0]) if coin * q[0, x[0]] < p[0, x[0]] else int((p[0] - q[0]).argmax())]

    report = audit.examine(audit.Function(verify, tensors=True), **{**SMALL, "runs": 0})
    assert report.lossless is None, report
    assert dtype in report.undecided
    assert audit.examine(audit.Function(verify, tensors=True, dtype=dtype), **SMALL).lossless


FOLLOWED = {
    "float": lambda torch: float(torch.rand(1)),
    "max": lambda torch: torch.rand(1, 1).max(dim=-1).values[0],
    "sort": lambda torch: torch.rand(1).sort().values[0],
    "sum": lambda torch: torch.rand(1).sum(),
    "scatter": lambda torch: torch.zeros(2).scatter(0, torch.tensor([0]), torch.rand(1))[0],
    "masked_fill": lambda torch: torch.rand(2).masked_fill(torch.tensor([False, True]), 0.0)[0],
    "tensor": lambda torch: torch.tensor(torch.rand(1).item()),
    "floor": lambda torch: (lambda u: u * 4 - torch.floor(u * 4))(torch.rand(1)[0]),
}


@pytest.mark.parametrize("name", FOLLOWED)
@pytest.mark.sampled(3)
def test_idioms_of_torch_are_followed(name):
    torch = pytest.importorskip("torch")

    def verify(p, q, x):
        for i, t in enumerate(x.tolist()):
            if not FOLLOWED[name](torch) * q[i, t] < p[i, t]:
                rest = (p[i] - q[i]).clamp(min=0)
                return [*x[:i], torch.multinomial(rest if rest.any() else p[i], 1)[0]]
        return [*x, torch.multinomial(p[-1], 1)[0]]

    target = audit.Function(verify, tensors=True)
    target.namespace = verify.__globals__
    report = audit.examine(target, **SMALL)
    assert report.lossless is not False, report
    assert report.lossless or name == "floor", report


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
def test_a_scripted_function_is_run_by_its_python():
    torch = pytest.importorskip("torch")
    from tests.simulators.audit import scripted

    assert audit.examine(audit.Function(scripted.verify, tensors=True), **SMALL).lossless
    assert type(scripted.accepted) is torch.jit.ScriptFunction


def test_torch_seeds():
    torch = pytest.importorskip("torch")

    def token(p, q, x, generator):
        for i, t in enumerate(x.tolist()):
            if not torch.rand(1, generator=generator)[0] * q[i, t] < p[i, t]:
                return [*x[:i], torch.multinomial((p[i] - q[i]).clamp(min=0), 1, generator=generator)[0]]
        return [*x, torch.multinomial(p[-1], 1, generator=generator)[0]]

    def everywhere(target_probs, draft_probs, draft_tokens):
        torch.manual_seed(0)
        return token(target_probs, draft_probs, draft_tokens, None)

    def own(target_probs, draft_probs, draft_tokens):
        return token(target_probs, draft_probs, draft_tokens, torch.Generator().manual_seed(3))

    def by_tokens(target_probs, draft_probs, draft_tokens):
        seed = int(draft_tokens.sum())
        return token(target_probs, draft_probs, draft_tokens, torch.Generator().manual_seed(seed))

    kept = torch.Generator().manual_seed(0)

    def outside(target_probs, draft_probs, draft_tokens):
        return token(target_probs, draft_probs, draft_tokens, kept)

    def unseeded(target_probs, draft_probs, draft_tokens):
        return token(target_probs, draft_probs, draft_tokens, None)

    state = torch.get_rng_state()
    for verify in (everywhere, own, by_tokens):
        report = audit.examine(audit.Function(verify, tensors=True), **SMALL)
        assert not report.lossless, report
        assert "seed" in str(report)
    for verify in (outside, unseeded):
        report = audit.examine(audit.Function(verify, tensors=True), **SMALL)
        assert report.lossless, report
    assert torch.equal(state, torch.get_rng_state())


def test_scipy_takes_the_generator():
    stats = pytest.importorskip("scipy.stats")

    def verify(p, q, x, rng):
        return hostile.token(
            p,
            q,
            x,
            lambda: np.exp(-stats.expon.rvs(random_state=rng)),
            lambda row: int(rng.choice(len(row), p=row)),
        )

    assert audit.examine(verify, **QUICK).lossless


CHILD = """
import subprocess
from contextlib import suppress


def verify(target_probs, draft_probs, draft_tokens, rng):
    subprocess.Popen(["sleep", "4321"])
    while True:
        with suppress(BaseException):
            while True:
                pass
"""


@pytest.mark.slow
def test_neither_a_loop_that_catches_everything_nor_its_children_outlive_the_verdict(tmp_path):
    (tmp_path / "starts.py").write_text(CHILD)
    command = [sys.executable, "-m", "draftproof", "audit", f"{tmp_path / 'starts.py'}:verify"]
    settings = tmp_path / "settings.toml"
    settings.write_text("seconds = 1\n")
    done = subprocess.run(
        [*command, "--vocab", "2", "--depth", "1", "--settings", str(settings)],
        capture_output=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 1
    assert b"hangs" in done.stdout
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 4321" not in left
