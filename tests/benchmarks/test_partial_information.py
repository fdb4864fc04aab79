"""Partial information: a rule may guess what it does not see, but serves all completions with one plan."""

from collections.abc import Sequence

import pytest
from flint import fmpq

from benchmarks.partial_information import completions, partial_information
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.optimum import stateless
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.values import expected_accepted
from draftproof.theory.verifiers import named


def truth(family: Sequence[Instance]) -> list[fmpq]:
    return [fmpq(int(n == 0)) for n in range(len(family))]


@pytest.mark.parametrize(("depth", "vocab"), [(1, 3), (2, 2), (2, 3)])
def test_chains_come_down_to_block_verification(depth: int, vocab: int) -> None:
    for instance in Randoms(Chain(depth), vocab, 5, seed=12):
        family = completions(instance)
        blocks = [expected_accepted(one, "block") for one in family]
        for found, exact in (
            (partial_information(family, truth(family)), blocks[0]),
            (partial_information(family), sum(blocks, fmpq(0)) / len(blocks)),
        ):
            assert found == pytest.approx(float(exact), abs=1e-8)


@pytest.mark.parametrize(
    "draft",
    [Tree((((),), ((),))), pytest.param(Tree((((), ()), ((), ()))), marks=pytest.mark.slow), Paths(2, 2)],
)
def test_on_trees_guessing_is_free_and_serving_all_is_not_more(draft: Scheme) -> None:
    for instance in Randoms(draft, 3, 2, seed=2):
        family = completions(instance)
        assert partial_information(family, truth(family)) == pytest.approx(
            stateless(instance).value, abs=1e-8
        )
        even = partial_information(family)
        means = [
            sum(float(emission(one, named(name)).expected_accepted) for one in family) / len(family)
            for name in ("traversal", "nss")
        ]
        assert max(means) <= even + 1e-8
        assert even <= sum(stateless(one).value for one in family) / len(family) + 1e-8


def test_a_family_without_hidden_rows_is_the_instance_alone() -> None:
    instance = Randoms(Tree(((), ())), 3, 1)[0]
    assert completions(instance) == [instance]


def test_a_family_too_large_is_refused() -> None:
    full = next(i for i in Randoms(Chain(3), 3, 50) if all(m > 0 for _, r in i.proposal.given() for m in r))
    with pytest.raises(BadInput, match="completions"):
        completions(full)
