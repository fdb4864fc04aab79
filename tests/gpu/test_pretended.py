"""Whole runs on a device that is not there: no tensor stays behind on the host, and numbers are the same."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.eagle3 import FeatureDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.engine.setup import Setup
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import VERIFIERS, named
from draftproof.simulators.instances.scenarios import Scenarios, scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.targets.processors import Mask
from tests.gpu.parameters import processors
from tests.gpu.pretended import DEVICE, pretended
from tests.gpu.small import new_head

PAIR = Tree(((), ()))


CHANGED = {
    "repetition_penalty": 1.2,
    "presence_penalty": 0.3,
    "logit_bias": {5: 1.0},
    "bad_words_ids": [[4, 5]],
    "grammar": Mask("a", {"a": {str(x): "ab"[x % 2] for x in range(1024)}, "b": {"3": "a", "8": "b"}}),
    "logits_processor": [lambda ids, scores: scores - (ids.sum(-1, keepdim=True) % 3)],
}


def decoded(device, drafter, draft, verifier, changed=None, rule=None):
    """What comes out of two prompts that end at different times."""
    target, other = pair(None, None if drafter == "features" else drafter, device, torch.float32)
    if drafter == "features":
        torch.manual_seed(0)
        other = FeatureDrafter(new_head(target).to(target.device), target)
    return [
        step.emitted
        for step in generate(
            target,
            other,
            [[5, 6, 7], [8, 9]],
            verifier=named(verifier),
            structure=structure(draft),
            sampling=Sampling(0.8, top_k=8, top_p=0.95, processors=processors(**changed or {})),
            selection=rule and Selection.of(rule, 3),
            max_new_tokens=5,
            ignore_end=True,
        )
    ]


@pytest.mark.parametrize(
    ("drafter", "draft", "verifier"),
    [
        (None, "chain:3", "block"),
        (None, "tree:2x2", "traversal"),
        (None, "paths:2x3", "rrs"),
        (None, "top-k:3x3x8", "one-hot"),
        ("features", "chain:3", "token"),
    ],
)
def test_decoding(drafter, draft, verifier):
    with pretended() as device:
        there = decoded(device, drafter, draft, verifier)
    assert there == decoded("cpu", drafter, draft, verifier)


@pytest.mark.parametrize(("draft", "verifier"), [("paths:2x3", "rrs"), ("top-k:3x3x8", "one-hot")])
def test_decoding_with_processors(draft, verifier):
    with pretended() as device:
        there = decoded(device, None, draft, verifier, CHANGED)
    assert there == decoded("cpu", None, draft, verifier, CHANGED)


@pytest.mark.parametrize("rule", ["tetris-repaired", "confidence-stop", "dspark"])
def test_decoding_with_a_selection(rule):
    with pretended() as device:
        there = decoded(device, None, "chain:3", "block", None, rule)
    assert there == decoded("cpu", None, "chain:3", "block", None, rule)


def test_the_ties_to_the_exact_engine():
    from draftproof.gpu.checks.against_exact.noise import agreement
    from tests.gpu.checks.against_exact.laws import rounded

    with pretended():
        found = list(agreement(list(Scenarios(PAIR, 2))[:1], "meta"))
        law = rounded(named("block"), scenario("toy", Chain(1)), torch.float32, "meta")
    assert {each.verifier for each in found} >= {"rrs", "traversal"}
    assert all(each.wrong == 0 < each.rows for each in found)
    assert float(law.own) < 1e-6


@pytest.mark.slow
def test_large_vocabularies():
    from draftproof.gpu.checks.against_exact.large import closeness

    with pretended():
        assert all(each.wrong == 0 < each.rows for each in closeness(64, device="meta", cases=1))


@pytest.mark.slow
def test_throughput():
    from draftproof.gpu.bench import report
    from draftproof.gpu.bench.models import Bench, Plan
    from draftproof.gpu.engine.prompts import Prompt

    with pretended() as device:
        target, drafter = pair(None, None, device)
        assert target.network.dtype == torch.bfloat16
        drafts = [
            structure(each) for each in ("chain:3", "tree:2x2", "top-k:2x2x4", "paths:2x2", "tree+:2x2")
        ]
        plan, prompts = Plan(tokens=6, repeats=1, temperatures=(0.7,)), [Prompt("", [5, 6, 7, 8])]
        bench = Bench(Setup(target, drafter, drafts, list(VERIFIERS.values())), prompts, plan)
        assert len(list(bench.run())) == bench.total
        assert not any(report.row_of(cell, bench.cells)["problems"] for cell in bench.cells)


@pytest.mark.slow
def test_validation():
    from draftproof.gpu.checks.models.run import Plan, Validation

    with pretended() as device:
        target, drafter = pair(None, None, device, torch.float32)
        prompts = [target.tokenizer.encode("def main():\n")]
        drafts = [structure(each) for each in ("chain:2", "tree:2x2", "paths:2x2")]
        plan = Plan(runs=20, length=2, tokens=8, batch=20, top_k=(2,))
        chosen = [named("block"), named("traversal")]
        validation = Validation(Setup(target, drafter, drafts, chosen), prompts, plan, prompts)
        cells = list(validation.run())
    assert len(cells) == 4
    assert not any(cell.problems for cell in cells)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda rows: rows + torch.arange(3),
        lambda rows: torch.cat((rows, torch.zeros(1, 3))),
        lambda rows: rows.numpy(),
        lambda rows: torch.zeros(2, 3).copy_(torch.zeros(2, 3))[rows.long()],
    ],
)
def test_what_a_gpu_would_refuse_is_refused(wrong):
    with pretended() as device:
        rows = torch.zeros(2, 3, device=device)
        with pytest.raises((RuntimeError, TypeError)):
            wrong(rows)


def test_what_a_gpu_allows():
    with pretended() as device:
        rows = torch.zeros(2, 3, device=device)
        rows[:, [0]] = 1.0
        rows[torch.tensor([1])] += torch.tensor(2.0)
        assert rows.device == DEVICE
        assert rows.tolist() == [[1, 0, 0], [3, 2, 2]]
        assert rows.cpu().device.type == "cpu"
