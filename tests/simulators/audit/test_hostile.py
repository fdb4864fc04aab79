"""Hostile and careless functions: none is called lossless that is not, and none outlives its limit."""

import subprocess
import sys
from time import monotonic

import numpy as np
import pytest

from draftproof.simulators import audit
from tests.simulators.audit import hostile
from tests.simulators.audit.hostile import BAD, ENDLESS, GOOD

QUICK = {"runs": 300, "seconds": 2.0, "edges": False, "smallest": False}
SMALL = {**QUICK, "vocab": 2, "depth": 1}


def test_how_many_there_are():
    assert len(BAD) + len(GOOD) + len(ENDLESS) >= 180


@pytest.mark.parametrize("name", BAD)
def test_a_bad_one_is_not_called_lossless(name):
    report = audit.examine(BAD[name], **(SMALL if ", seed: " in name else QUICK))
    assert not report.lossless, report
    assert report.findings or report.wrong or report.undecided  # it says why


@pytest.mark.parametrize("name", GOOD)
def test_a_good_one_is_not_called_lossy(name):
    report = audit.examine(GOOD[name], **SMALL)
    assert report.lossless is not False, report
    assert report.lossless or report.undecided


@pytest.mark.parametrize(
    "name", ["default_rng, small seed drawn", "unseeded", "of_the_module", "seeded once"]
)
def test_coins_that_can_be_followed_are(name):
    assert audit.examine(GOOD[name], **SMALL).lossless


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the finaliser
@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_stopped(name):
    started = monotonic()
    report = audit.examine(ENDLESS[name], **{**QUICK, "seconds": 0.3})
    assert monotonic() - started < 20
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


def test_what_was_replaced_is_put_back():
    before = dict(vars(hostile.builtins))
    names = [*sys.modules]
    for name in ("builtins.sum", "removes_modules", "adds_a_builtin"):
        audit.examine((BAD | GOOD)[name], **QUICK)
    assert vars(hostile.builtins) == before
    assert not {*names} - {*sys.modules}


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


def test_neither_a_loop_that_catches_everything_nor_its_children_outlive_the_verdict(tmp_path):
    (tmp_path / "starts.py").write_text(CHILD)
    command = [sys.executable, "-m", "draftproof", "audit", f"{tmp_path / 'starts.py'}:verify"]
    done = subprocess.run(
        [*command, "--vocab", "2", "--depth", "1", "--seconds", "1"],
        capture_output=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 1
    assert b"hangs" in done.stdout
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 4321" not in left
