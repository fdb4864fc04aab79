"""Coins at the edges, rows of NaN, padding, and rows that are equal but for rounding."""

import numpy as np
import pytest

from draftproof.simulators import audit
from draftproof.simulators.audit.battery import equal_rows
from tests.mutants import functions
from tests.simulators.audit import foreign


def test_edges_are_findings_and_fail_only_if_strict():
    def at_zero(p, q, x, rng):
        if rng.random() <= p[0, x[0]] / q[0, x[0]]:
            return [x[0]]
        rest = np.maximum(p[0] - q[0], 0.0)
        return [rng.choice(len(rest), p=rest / rest.sum())]

    report = audit.assert_lossless(at_zero)
    assert "probability zero" in report.findings[0].kind
    with pytest.raises(AssertionError, match="probability zero"):
        audit.assert_lossless(at_zero, strict=True)


def test_a_residual_that_rounding_made_zero_is_found():
    report = audit.examine(foreign.unguarded)
    assert report.lossless
    [finding] = report.findings
    assert finding.kind == "raises"
    assert "equal but for rounding" in finding.where
    assert not audit.examine(foreign.good).findings


@pytest.mark.slow
def test_padding_is_tried_when_asked_for():
    assert not audit.examine(functions.accepts_padding, vocab=2).findings
    [finding] = audit.examine(functions.accepts_padding, vocab=2, padding=True).findings
    assert finding.kind == "accepts padding"


def test_equal_rows_are_equal():
    for instance in equal_rows(3, 2):
        assert instance.target[()] == instance.proposal[()]
        assert min(instance.target[()]) > 0


@pytest.mark.slow
def test_that_crash_is_real():
    # The coin itself, in the place of torch.rand_like's, and nothing else of ours.
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from transformers.generation import utils

    crashed = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "rand_like", lambda ratio: torch.full_like(ratio, 1 - 2.0**-24))
        for instance in equal_rows(4, 1):
            row = np.array([float(mass) for mass in instance.target[()]])
            logits = np.log(row).astype(np.float32)
            for token in range(4):
                ids = torch.tensor([[token]])
                p = torch.from_numpy(np.stack([logits + np.float32(0.3)] * 2))[None]
                q = torch.from_numpy(logits)[None, None]
                try:
                    utils._speculative_sampling(ids, q, 1, p)
                except RuntimeError as error:
                    crashed += "nan" in str(error)
    assert crashed
