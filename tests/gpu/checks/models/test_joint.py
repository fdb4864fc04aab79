"""Enumerated laws of one step are the exact engine's, and the faint fault is bug 2."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.checks.models.joint import logits_after, look_ahead, total_variation, worst_prompt
from draftproof.gpu.checks.models.lossy import LOSSY
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import VERIFIERS
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.verifiers import named
from tests.gpu.small import PROMPTS, drafter, near, target
from tests.mutants.rules import UNSCALED

BY_NAME = {each.verifier.name: each for each in LOSSY}
THREE = Sampling(1.0, top_k=3)


def floats(rows, depth, vocab):
    words = [()]
    found = {}
    for _ in range(depth + 1):
        found |= {
            word: torch.tensor([float(mass) for mass in rows[word]], dtype=torch.float64) for word in words
        }
        words = [(*word, x) for word in words for x in range(vocab)]
    return found


@pytest.mark.parametrize(
    ("ours", "exact"),
    [
        (BY_NAME["hsd-released"].verifier, named("hsd-released")),
        (BY_NAME["unscaled-residual"].verifier, UNSCALED),
        (VERIFIERS["block"], named("block")),
        (VERIFIERS["token"], named("token")),
    ],
)
def test_total_variation_is_the_exact_engines(ours, exact):
    off = []
    for instance in Randoms(Chain(3), 3, 5, seed=5):
        ahead = floats(instance.target, 3, 3), floats(instance.proposal, 2, 3)
        off.append(total_variation(ours, ahead, 3))
        assert off[-1] == pytest.approx(float(emission(instance, exact).total_variation), abs=1e-12)
    assert (max(off) > 1e-6) == (ours.name in BY_NAME)


def decode(name):
    def first_steps(prompts, *, sampling, **options):
        models = {"target": target(), "drafter": drafter(name), "prompts": prompts}
        rule = {"verifier": VERIFIERS["block"], "structure": structure("chain:2"), "sampling": sampling}
        return generate(**models, **rule, **options)

    return first_steps


def likeliest(rows):
    """The masses of the kept tokens of each row, as a sorted list."""
    return torch.tensor(sorted(sorted(row[row > 0].tolist()) for row in rows))


def test_rows_ahead_are_those_of_plain_passes():
    rows, drafted = look_ahead(target(), decode("near"), PROMPTS[1], THREE, 2)
    assert len(rows) == 1 + 3 + 9
    assert len(drafted) == 1 + 3
    first = THREE.rows(logits_after(near(), PROMPTS[1], [()], near().vocab, THREE))
    words = [(x,) for x in first[0].nonzero().flatten().tolist()]
    second = THREE.rows(logits_after(near(), PROMPTS[1], words, near().vocab, THREE))
    for plain, length in ((first, 0), (second, 1)):
        own = [row for word, row in drafted.items() if len(word) == length]
        assert torch.allclose(likeliest(plain), likeliest(own), atol=1e-5)
    for verifier in (VERIFIERS["block"], VERIFIERS["token"]):
        assert total_variation(verifier, (rows, drafted), 2) < 1e-6


def test_rows_ahead_of_a_block_drafter_depend_on_the_depth_alone():
    _, drafted = look_ahead(target(), decode("block"), PROMPTS[1], THREE, 2)
    after = [row for word, row in drafted.items() if len(word) == 1]
    assert len(after) == 3
    assert all(torch.equal(row, after[0]) for row in after)


def test_the_worst_prompt_is_the_one_with_the_largest_total_variation():
    rule, way = BY_NAME["unscaled-residual"].verifier, decode("near")
    off, (number, prompt, law) = worst_prompt(target(), way, PROMPTS, rule, 2, THREE, 2)
    every = [total_variation(rule, look_ahead(target(), way, each, THREE, 2), 2) for each in PROMPTS]
    assert off == max(every) == every[number]
    assert prompt == PROMPTS[number]
    assert sum(law.values()) == pytest.approx(1)
