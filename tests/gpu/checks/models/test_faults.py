"""Verifiers with a known fault are noticed by what `gpu validate` does; the pair is the one that ships."""
# ruff: noqa: E402

from functools import cache
from itertools import product

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.checks.models.run import Plan, Validation, summary, table
from draftproof.gpu.commands.validate import OPENINGS
from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.setup import Setup
from draftproof.gpu.verify import named
from tests.gpu.lossy import LOSSY

DRAFTS = {"chain": "chain:3", "tree without replacement": "tree:2x2"}
SEEN = [each for each in LOSSY if not each.faint]


@cache
def models(drafter=None):
    return pair(None, drafter, "cpu")


def validated(verifier, drawn=None, prompts=OPENINGS, top_k=(2,), many=(), **plan):
    """The cell of a verifier, on the structure or on one that it is made for."""
    shape = drawn or structure(DRAFTS[verifier.drafts[0]])
    target, drafter = models("block" if shape.name.startswith("ddtree") else None)
    encoded = [target.tokenizer.encode(text) for text in prompts]
    how = Plan(**{"tokens": 8, "half_width": 2.0, **plan}, top_k=top_k)
    (cell,) = Validation(Setup(target, drafter, [shape], [verifier]), encoded, how, encoded).run()
    return cell


def noticed(each):
    """Whether the law is rejected at one of the prompts, with one of the numbers of kept tokens."""
    for prompt, top_k in product(OPENINGS, (2, 4)):
        cell = validated(each.verifier, each.drawn, [prompt], (top_k,), runs=4000)
        if any("the law is rejected" in problem for problem in cell.problems):
            return cell
    return None


def test_a_fault_is_said_in_the_table_and_in_the_summary():
    (typical,) = (each for each in SEEN if each.verifier.name == "typical")
    found = noticed(typical)
    assert found is not None
    right = validated(named("token"), runs=60)
    assert not right.problems
    assert "1 of 2 as predicted" in summary([right, found])
    assert "chain:3 typical: the law is rejected at prompt 1" in summary([right, found])
    assert list(map(str, table([right, found]).columns[-1].cells)) == ["", "NOT as expected"]


@pytest.mark.slow
@pytest.mark.parametrize("each", [each for each in SEEN if not each.lossless], ids=lambda e: e.verifier.name)
def test_what_loses_the_law_is_noticed(each):
    assert noticed(each) is not None


@pytest.mark.slow
@pytest.mark.long
def test_one_draft_in_twenty_refused_keeps_the_law_and_is_noticed_by_acceptance():
    (refusing,) = (each.verifier for each in SEEN if each.lossless)
    for verifier, right, width in ((named("token"), True, 0.1), (refusing, False, 0.05)):
        cell = validated(verifier, runs=60, tokens=32, half_width=width)
        assert not any(each.rejected for each in cell.laws)
        assert any("E[tau]" in problem for problem in cell.problems) is not right
        assert right is not bool(cell.problems)
