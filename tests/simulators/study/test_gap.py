"""One instance beside the optima: shares, notes, limits, and no traceback anywhere."""

import pytest
from flint import fmpq

from draftproof.simulators.instances.scenarios import SCENARIOS, Scenarios, scenario
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.study.gap import ABOVE, LOSSY, STATE, measure
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import context_free
from draftproof.theory.verifiers import VERIFIERS
from tests.checks import holds
from tests.problems import SCHEMES, TOY

BINARY = Tree(every(2, 2))
LABELS = pytest.mark.parametrize("label", SCHEMES)


def test_the_toy():
    found = measure(TOY)
    assert found.full.value == fmpq(4, 3)
    assert holds(found.full)
    assert found.stateless.lower <= fmpq(11, 9) <= found.stateless.upper
    assert found.shares("token") == pytest.approx((10 / 11, 5 / 6))
    notes = {name: found.note(name) for name in found.expected_accepted}
    assert {name for name, note in notes.items() if note == STATE} == {"greedy-block", "hsd-naive"}
    assert {name for name, note in notes.items() if note == ABOVE} == {
        "hsd-released",
        "hsd-multidraft-released",
        "typical",
    }


def test_lossy_verifiers_that_are_not_above_are_called_what_they_are():
    equal = measure(scenario("equal", Chain(2)))
    assert equal.note("hsd-released") == LOSSY
    assert equal.note("block") == ""


@LABELS
def test_every_scenario_ends_in_numbers_that_make_sense(label):
    for instance in Scenarios(SCHEMES[label], 2):
        sensible(instance)


@pytest.mark.slow
@LABELS
def test_with_three_symbols_too(label):
    for instance in Scenarios(SCHEMES[label], 3):
        sensible(instance)


@pytest.mark.slow
@pytest.mark.parametrize("vocab", [2, 3])
def test_on_binary_trees_too(vocab):
    for instance in Scenarios(BINARY, vocab):
        sensible(instance)


def sensible(instance):
    found = measure(instance)
    best = found.stateless
    assert best.lower <= best.upper <= found.full.value + fmpq(1, 10**7)
    assert best.error < 1e-7
    for name, mean in found.expected_accepted.items():
        verifier = VERIFIERS[name]
        assert mean == emission(instance, verifier).expected_accepted
        if verifier.lossless:
            assert mean <= found.full.value
            assert found.note(name) in ("", STATE), (name, instance.name)


@LABELS
def test_one_symbol_accepts_everything(label):
    instance = context_free([1], [1], SCHEMES[label])
    found = measure(instance)
    assert found.full.value == SCHEMES[label].depth
    for name, mean in found.expected_accepted.items():
        assert mean == SCHEMES[label].depth, name
    assert found.note("nss" if label != "chain" else "token") == ""


def test_disjoint_supports_accept_nothing_and_that_is_all_there_is():
    found = measure(scenario("disjoint supports", Chain(2), 2))
    assert found.full.value == found.expected_accepted["block"] == 0
    assert found.shares("block") == (1.0, 1.0)


def test_too_large_is_said_and_not_tried():
    row = [fmpq(1, 90)] * 90
    with pytest.raises(BadInput, match="8,100 drafts times 8,100 target blocks"):
        measure(context_free(row, row, Chain(2)))


def test_all_scenarios_are_here():
    assert len(SCENARIOS) >= 18
