"""A step's verdict by the kernels, in Triton's interpreter, is the one by plain torch."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("triton")

from draftproof.gpu.engine import verdict
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import Verifier, named
from tests.gpu.small import steps_of

WAYS = [
    ("block", "chain:3", Sampling(0.7)),
    ("token", "chain:3", Sampling(1.0, top_k=7, top_p=0.95)),
    ("block", "chain:3", Sampling(0.0)),
    ("traversal", "tree:2x2", Sampling()),
    ("rrs", "paths:2x2", Sampling(1.3)),
    ("one-hot", "top-k:3x2x6", Sampling()),
]


def decoded(name, spelling, sampling):
    return steps_of(name, spelling, "near", sampling=sampling, max_new_tokens=6, ignore_end=True)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.sampled(3)
def test_kernels_decide_as_torch_does_and_steps_keep_their_rows(way, monkeypatch):
    plain = decoded(*way)
    asked = []

    def always(verifier, device):
        asked.append(verifier.name)
        return True

    monkeypatch.setattr(verdict, "has_kernels", always)
    found = decoded(*way)
    assert asked
    assert [step.emitted for step in found] == [step.emitted for step in plain]
    for one, other in zip(found, plain, strict=True):
        assert torch.allclose(one.drafts.target, other.drafts.target, atol=1e-6)


def test_kernels_are_for_gpus_and_for_our_own_verifiers():
    block, gpu = named("block"), torch.device("cuda")
    assert verdict.has_kernels(block, gpu)
    assert not verdict.has_kernels(block, torch.device("cpu"))
    assert not verdict.has_kernels(Verifier(block.drafts, block.rates, name="block"), gpu)
