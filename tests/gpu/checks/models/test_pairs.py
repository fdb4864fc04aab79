"""The joint law of two requests of a batch: kept by predictable rules, lost by TETRIS as released."""
# ruff: noqa: E402

from functools import partial

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.checks.models.joint import laws, observe
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.sampling.names import SELECTIONS
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from tests.gpu import tables

ROWS = [["1/2", "1/2"], ["2/3", "1/3"], ["1/3", "2/3"], ["3/5", "2/5"], ["1/2", "1/2"], ["2/5", "3/5"],
        ["1/4", "3/4"], ["1/2", "1/2"]]  # fmt: skip
DRAFTED = [[*reversed(row)] for row in ROWS]
TWO = Sampling(1.0, top_k=2)


def observed(rule, times=1, requests=8):
    target, drafter = tables.model(ROWS), tables.drafter(DRAFTED)
    decode = partial(generate, target, drafter, verifier=named("token"), structure=structure("chain:2"),
                     selection=Selection.of(rule, requests // 2, requests))  # fmt: skip
    known = laws(target, [[n] for n in range(8)], 2, TWO, 8)
    return observe(decode, known, TWO, 150 * times, 400, 0, requests=requests, together=2)


@pytest.mark.parametrize("rule", ["tetris-repaired", "dspark"])
def test_predictable_rules_keep_the_joint_law(rule):
    found = observed(rule)
    assert [each.prompt for each in found] == [0, 2, 4, 6]
    assert not any(each.rejected for each in found)
    assert {(each.words, each.runs) for each in found} == {(16, 150)}


@pytest.mark.slow
@pytest.mark.parametrize("rule", [name for name in SELECTIONS if name != "tetris"])
def test_every_predictable_rule_keeps_the_joint_law(rule):
    assert not any(each.rejected for each in observed(rule, 4))


def test_tetris_as_released_is_noticed():
    found = observed("tetris", 8)
    assert any(each.rejected for each in found)
    assert max(each.runs for each in found) < 1200


def test_an_odd_number_of_requests_leaves_one_out():
    assert len(observed("dspark", requests=3)) == 1


@pytest.mark.slow
def test_requests_that_are_correlated_are_noticed_though_each_is_right():
    """Two requests that share their noise: each has its law, and both together have not."""
    target, drafter = tables.model(ROWS), tables.drafter(DRAFTED)

    def decode(prompts, *, seed, **options):
        same = [each - each % 2 for each in seed]
        return generate(target, drafter, prompts, verifier=named("token"), structure=structure("chain:2"),
                        seed=same, **options)  # fmt: skip

    known = laws(target, [[0], [4]], 2, TWO, 2)
    (found,) = observe(decode, known, TWO, 800, 400, 0, requests=2, together=2)
    assert found.rejected
