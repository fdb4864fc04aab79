"""The stateless optimum: block verification on chains, a bound on every lossless verifier elsewhere."""

import json

import pytest

from draftproof.simulators.instances.files import parse
from draftproof.simulators.instances.randoms import Logits, Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.optimum import drafted, full_information, one_level, stateless
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.table import Table
from draftproof.theory.transport.block import chain_optima
from draftproof.theory.transport.bounds import Program
from draftproof.theory.verifiers import VERIFIERS, named
from tests.problems import OPTIMA, TOY

BINARY = Tree((((), ()), ((), ())))


def same_as_block(instance: Instance) -> None:
    found, exact = (
        stateless(instance),
        chain_optima(instance.target, instance.proposal, instance.draft.depth)[1],
    )
    assert found.lower is not None
    assert found.lower <= exact <= found.upper
    assert found.error < 1e-9
    assert abs(found.value - float(exact)) < 1e-9


@pytest.mark.parametrize(("depth", "vocab"), [(1, 3), (2, 2), (2, 3), (3, 2), (3, 3)])
def test_chains_come_down_to_block_verification(depth: int, vocab: int) -> None:
    for instance in Randoms(Chain(depth), vocab, 30, seed=8):
        same_as_block(instance)


@pytest.mark.long
@pytest.mark.slow
def test_a_thousand_chains_come_down_to_block_verification() -> None:
    for n in range(1000):
        same_as_block(Randoms(Chain(1 + n % 3), 2 + n % 2, 1000, seed=9)[n])


@pytest.mark.parametrize(
    "draft", [Tree(((), ()), True), Tree((((), ()), ())), BINARY, Paths(2, 2), TopK((((), ()), ()))]
)
def test_it_bounds_every_lossless_verifier(draft: Scheme) -> None:
    for instance in Randoms(draft, 3, 6, seed=10):
        found = stateless(instance)
        assert found.error < 1e-9
        assert found.lower is not None
        assert found.lower <= full_information(instance).value
        for verifier in VERIFIERS.values():
            if draft.label in verifier.drafts and verifier.lossless and verifier.carry is None:
                assert emission(instance, verifier).expected_accepted <= found.upper, verifier.name


@pytest.mark.parametrize(
    "draft",
    [Paths(2, 1), Tree(((), (), ())), Tree(((), ()), True), Greedy(((), ())), SpecHub(1), TopK(((), ()))],
)
@pytest.mark.parametrize("vocab", [2, 3, 4])
def test_on_one_level_both_optima_have_a_closed_form(draft: Scheme, vocab: int) -> None:
    for instance in Randoms(draft, vocab, 6, seed=11):
        best, found = one_level(instance), stateless(instance)
        assert best == full_information(instance).value
        assert found.lower is not None
        assert found.lower <= best <= found.upper


def test_what_presolve_calls_infeasible_is_solved_without_it() -> None:
    instance = Randoms(Paths(2, 2), 3, 4000, 0, Logits(temperature=0.25))[886]
    assert stateless(instance).error < 1e-9


def test_two_levels_have_no_closed_form() -> None:
    with pytest.raises(BadInput, match="drafts of depth 1"):
        one_level(TOY)


def test_it_flags_hsd_released() -> None:
    assert emission(TOY, named("hsd-released")).expected_accepted > stateless(TOY).upper


def test_extremes() -> None:
    assert stateless(context_free([1, 0], [0, 1], Chain(2))).upper == 0
    assert stateless(context_free(["1/3", "2/3"], ["1/3", "2/3"], Chain(3))).value == pytest.approx(3)
    with pytest.raises(BadInput, match="no draft"):
        Program(Table.exact(1, {(): [1]}), {})


@pytest.mark.long
@pytest.mark.slow
def test_more_than_twenty_thousand_variables() -> None:
    p, q = ["1/2", "1/4", "1/10", "1/20", "1/20", "1/20"], ["1/6", "1/12", "1/12", "1/3", "1/6", "1/6"]
    instance = context_free(p, q, BINARY)
    assert Program(instance.target, drafted(instance)).size >= 20_000
    found = stateless(instance)
    assert found.error < 1e-9


@pytest.mark.parametrize("vector", OPTIMA.values(), ids=OPTIMA)
def test_vectors(vector: dict) -> None:
    found = stateless(parse(json.dumps(vector["instance"])))
    assert abs(found.value - vector["optimum"]["stateless"]) < 1e-8
    assert found.error < 1e-9
