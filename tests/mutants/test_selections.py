"""Every mutant of selection is caught, by the joint law and by the view."""

import pytest

from draftproof.simulators.instances.batches import Batches
from draftproof.simulators.laws.verdicts.batches import judge_batch
from draftproof.theory.verifiers import named
from tests.mutants.selections import SELECTIONS, rule

SIZES = (2, 1, 2, 1, 12), (2, 2, 2, 2, 24), (3, 2, 2, 3, 9)


def verdicts(select, predictable):
    for size in SIZES:
        for batch in Batches(rule(select, predictable), *size):
            yield judge_batch(batch, named("token"))


@pytest.mark.parametrize("select", SELECTIONS, ids=lambda each: each.__name__)
def test_the_law_is_found_wrong(select):
    wrong = [verdict for verdict in verdicts(select, False) if not verdict.lossless]
    assert wrong
    assert all(verdict.wrong and not verdict.declared for verdict in wrong)


@pytest.mark.parametrize("select", SELECTIONS, ids=lambda each: each.__name__)
def test_a_wrong_declaration_is_refused(select):
    invalid = [verdict.invalid for verdict in verdicts(select, True)]
    assert any("is declared predictable, and drafted token" in each for each in invalid)


@pytest.mark.parametrize("select", SELECTIONS, ids=lambda each: each.__name__)
def test_the_cause_is_the_value(select):
    """Where q has one token only, no value can tell anything: the mutants are lossless there."""
    from dataclasses import replace

    from draftproof.theory.table import Table

    for batch in Batches(rule(select, False), 2, 2, 2, 2, 6):
        sure = tuple(replace(each, proposal=Table.exact(2, {(): [1, 0]})) for each in batch.requests)
        assert judge_batch(replace(batch, requests=sure), named("token")).lossless
