"""The loop of the engine emits what the plain loop emits, from the same noise."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.sampling.rows import PLAIN, Sampling
from draftproof.gpu.verify import VERIFIERS, named
from studies.plain_loop import decode
from tests.gpu import small

CHAINS = [name for name, each in VERIFIERS.items() if "chain" in each.drafts]
FILTERED = [("block", Sampling(0.7, top_k=12, top_p=0.9)), ("token", Sampling(0.0))]


def steps_are_the_plain_ones(target, drafter, prompt, name, sampling, gamma, seed):
    how = {"verifier": named(name), "structure": structure(f"chain:{gamma}"), "sampling": sampling}
    steps = list(
        generate(
            target, ModelDrafter(drafter), [prompt], ignore_end=True, max_new_tokens=40, seed=seed, **how
        )
    )
    plain = decode(target, drafter, prompt, named(name), gamma, sampling, seed)
    for step, emitted in zip(steps[:-1], plain, strict=False):
        assert step.emitted == [emitted]
    (last,), whole = steps[-1].emitted, next(plain)
    assert whole[: len(last)] == last
    return steps


@pytest.mark.parametrize(("name", "sampling"), [*((name, PLAIN) for name in CHAINS), *FILTERED])
@pytest.mark.sampled(4)
def test_a_small_network(name, sampling):
    found = [
        steps_are_the_plain_ones(small.target(), small.near(), [3, 4, 5, 6], name, sampling, 3, seed)
        for seed in range(3)
    ]
    assert any(step.accepted[0] for steps in found for step in steps)
    assert any(step.accepted[0] < 3 for steps in found for step in steps)


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.sampled(3)
def test_the_pair_that_ships(name):
    target, drafter = pair(None, None, "cpu")
    prompt = target.tokenizer.encode("def main():\n")
    steps_are_the_plain_ones(target, drafter.model, prompt, name, PLAIN, 4, 5)
