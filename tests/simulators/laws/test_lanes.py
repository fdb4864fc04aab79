"""The vectorised engine: tied to the exact one on inputs that floats hold exactly."""

import numpy as np
import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios, scenario
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.lanes import BATCH, Lanes, measure, stack
from draftproof.simulators.support.make import tabulate, weighted
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from draftproof.theory.verifiers import VERIFIERS, named
from tests.problems import LOPSIDED, TOY

IN_STEP = [each for each in VERIFIERS.values() if not each.ordered and each.carry is None]

ROUNDING = 2.0**-53 * 400
"""Every number stays below 4 and is reached by fewer than 100 operations, each off by a relative 2^-53."""


def dyadic(value: float) -> fmpq:
    """The float itself, which is a rational with a power of two below."""
    return fmpq(*float(value).as_integer_ratio())


CASES = [
    pytest.param(verifier, draft, id=f"{verifier.name} on {draft.label}")
    for draft in (Chain(2), Tree(LOPSIDED, True), Tree(LOPSIDED), Paths(2, 2))
    for verifier in IN_STEP
    if draft.label in verifier.drafts
]


@pytest.mark.parametrize(("verifier", "draft"), CASES)
def test_every_lane_is_the_exact_answer_up_to_rounding(verifier, draft):
    instances = [*Randoms(draft, 2, 20, seed=7), *Scenarios(draft, 2)]
    measured = measure(stack(instances), verifier)
    for lane, instance in enumerate(instances):
        exact = emission(instance, verifier)
        assert abs(measured.expected_accepted[lane] - float(exact.expected_accepted)) <= ROUNDING
        assert abs(measured.total_variation[lane] - float(exact.total_variation)) <= ROUNDING


def halves_and_quarters(code: int) -> Instance:
    """V = 2, q = (1/2, 1/2), rows of p in quarters: every ratio and residual is a short dyadic."""

    def p(prefix: tuple[int, ...]) -> tuple:
        digit = code // 5 ** (len(prefix) + sum(prefix)) % 5
        return weighted([digit, 4 - digit])

    return tabulate(2, Chain(2), p, lambda prefix: weighted([1, 1]), f"dyadic {code}")


@pytest.mark.parametrize(
    "name", ["token", "specinfer", "rrs", "nss", "one-hot", "sampling-match", "naive-tree"]
)
def test_equal_to_the_last_bit_where_nothing_rounds(name):
    instances = [halves_and_quarters(code) for code in range(5**4)]
    measured = measure(stack(instances), named(name))
    for lane, instance in enumerate(instances):
        exact = emission(instance, named(name))
        assert dyadic(measured.expected_accepted[lane]) == exact.expected_accepted
        assert dyadic(measured.total_variation[lane]) == exact.total_variation == 0


def test_a_lossy_rule_is_as_lossy_as_it_is():
    measured = measure(stack([TOY]), named("hsd-released"))
    assert measured.total_variation[0] == pytest.approx(1 / 9, abs=ROUNDING)
    assert measured.expected_accepted[0] == pytest.approx(12 / 9, abs=ROUNDING)


def test_lanes_whose_supports_run_out_go_their_own_way():
    pair = Tree(((), ()))
    full, thin = scenario("reversed", pair), scenario("one-hot proposal", pair)
    together = measure(stack([full, thin, full]), named("rrs"))
    apart = [measure(stack([each]), named("rrs")).expected_accepted[0] for each in (full, thin, full)]
    assert together.expected_accepted.tolist() == apart


def test_more_lanes_than_a_batch():
    rows = (Table(2, {(): np.tile(row, BATCH + 3)}) for row in ([[0.25], [0.75]], [[0.5], [0.5]]))
    many = Lanes(*rows, Chain(1))
    assert measure(many, named("token")).expected_accepted.tolist() == [0.75] * (BATCH + 3)


@pytest.mark.parametrize("name", ["k-seq", "greedy-block"])
def test_rules_without_a_common_structure_are_refused(name):
    with pytest.raises(BadInput, match="one by one"):
        measure(stack([TOY]), named(name))


def test_instances_of_different_structure_are_refused():
    with pytest.raises(BadInput, match="one drafting scheme"):
        stack([TOY, scenario("toy", Chain(3))])
