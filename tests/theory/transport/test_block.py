"""Block transport: closed form, solvers, certificate and vectors agree."""

import json

import pytest
from flint import fmpq

from draftproof.simulators.instances.files import parse
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.optimum import drafted, full_information
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.transport import block
from draftproof.theory.transport.block import chain_optima
from draftproof.theory.transport.certificate import Transport, certified, network_simplex
from tests.checks import holds
from tests.problems import OPTIMA
from tests.theory.transport.solvers import highs, value

TREES = (Tree((((), ()), ())), Tree((((),), ())), Tree(((), ()), True), Paths(2, 2))


def block_problem(instance: Instance) -> Transport:
    """The full-information block transport problem of an instance."""
    return block.problem(drafted(instance), instance.target, instance.draft.depth)


def ceiling(instance: Instance) -> fmpq:
    """sum over prefixes of min(p(prefix), Pr(prefix is drafted)): an upper bound, reached on chains.

    The reward counts the drafted prefixes that the block passes through, and no coupling makes two
    events coincide more often than the less likely one happens.
    """
    mass: dict[Prefix, fmpq] = {}
    for prefixes, part in drafted(instance).items():
        for prefix in prefixes:
            mass[prefix] = mass.get(prefix, ZERO) + part
    joint: dict[Prefix, fmpq] = {(): ONE}
    out = ZERO
    for prefix in sorted(filter(None, mass), key=len):
        joint[prefix] = joint[prefix[:-1]] * instance.target[prefix[:-1]][prefix[-1]]
        out += min(joint[prefix], mass[prefix])
    return out


@pytest.mark.parametrize("draft", [Chain(1), Chain(2), Chain(3)])
def test_chains_have_a_closed_form(draft: Chain) -> None:
    for instance in Randoms(draft, 2, 40, seed=5):
        problem = block_problem(instance)
        closed = chain_optima(instance.target, instance.proposal, draft.depth)[0]
        assert certified(problem).value == closed == ceiling(instance)
        assert abs(value(problem, network_simplex(problem)) - float(closed)) < 1e-9
        assert abs(value(problem, highs(problem)) - float(closed)) < 1e-9


@pytest.mark.long
@pytest.mark.slow
def test_a_thousand_random_instances_agree() -> None:
    schemes: list[Scheme] = [Chain(1), Chain(2), Chain(3), *TREES]
    for n in range(1000):
        draft = schemes[n % len(schemes)]
        instance = Randoms(draft, 2 + n % 2, 1000, seed=6)[n]
        problem = block_problem(instance)
        pot = network_simplex(problem)
        found = certified(problem, pot)
        assert holds(found)
        assert abs(value(problem, pot) - float(found.value)) < 1e-9
        assert abs(value(problem, highs(problem)) - float(found.value)) < 1e-9
        if draft.kind == "chain":
            assert found.value == chain_optima(instance.target, instance.proposal, draft.depth)[0]


@pytest.mark.parametrize("draft", TREES)
def test_trees_are_certified_below_the_ceiling(draft: Scheme) -> None:
    for instance in Randoms(draft, 3, 15, seed=7):
        found = full_information(instance)
        assert holds(found)
        assert found.value <= ceiling(instance)


def test_625_by_625_is_certified() -> None:
    instance = context_free(
        [fmpq(n, 15) for n in (1, 2, 3, 4, 5)], [fmpq(n, 25) for n in (9, 7, 5, 3, 1)], Chain(4)
    )
    problem = block_problem(instance)
    assert problem.reward.shape == (625, 625)
    found = certified(problem)
    assert holds(found)
    assert found.value == chain_optima(instance.target, instance.proposal, 4)[0]


def test_disjoint_supports_reach_nothing_and_equal_laws_everything() -> None:
    assert full_information(context_free([1, 0], [0, 1], Chain(2))).value == 0
    assert full_information(context_free(["1/3", "2/3"], ["1/3", "2/3"], Chain(3))).value == 3


@pytest.mark.parametrize("vector", OPTIMA.values(), ids=OPTIMA)
def test_vectors(vector: dict) -> None:
    found = full_information(parse(json.dumps(vector["instance"])))
    assert abs(float(found.value) - vector["optimum"]["full_information"]) < 1e-8


def test_too_many_drafts_are_refused_while_they_are_listed(monkeypatch):
    monkeypatch.setattr(block, "DRAFTS", 3)
    toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(8))
    with pytest.raises(BadInput, match="more than 3 drafts"):
        drafted(toy)


def test_as_many_cells_as_allowed_are_solved_for(monkeypatch):
    toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))
    monkeypatch.setattr(block, "CELLS", 4)
    assert block_problem(toy).reward.size == 4
    monkeypatch.setattr(block, "CELLS", 3)
    with pytest.raises(BadInput, match="2 drafts times 2 target blocks; at most 3"):
        block_problem(toy)
