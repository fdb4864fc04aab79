"""The optimum over predictable rules, beside every rule and beside an enumeration of all rules."""

from dataclasses import replace
from itertools import product

import pytest

from draftproof.simulators.instances.batches import Batches
from draftproof.simulators.laws.verdicts.batches import judge_batch, most_accepted
from draftproof.theory.rows import meet, total
from draftproof.theory.selection import RULES, named
from draftproof.theory.selection.batch import Batch
from draftproof.theory.selection.view import Rule
from draftproof.theory.verifiers import named as verifier

TOKEN = verifier("token")


@pytest.mark.parametrize("name", ["token", "block"])
def test_no_rule_is_above_the_optimum(name):
    for batch in (*Batches(named("all"), 2, 2, 2, 2, 8), *Batches(named("all"), 3, 1, 2, 1, 4)):
        best = most_accepted(batch, verifier(name))
        for rule in RULES.values():
            if rule.predictable and not rule.ahead:
                found = judge_batch(replace(batch, rule=rule), verifier(name))
                assert found.lossless
                assert found.expected_accepted <= best


def test_the_optimum_is_that_of_all_decision_trees():
    """Two requests of two tokens, room for two: the first request, and then one by the token revealed."""
    for batch in Batches(named("all"), 2, 2, 2, 2, 6):
        means = []
        for start, *after in product((0, 1), (0, 1), (0, 1)):

            def select(view, start=start, after=after):
                view.keep(start)
                view.keep(after[view.token(start, 0)])

            tree = Rule("tree", "test", "kept tokens", True, select)
            means.append(judge_batch(Batch(batch.requests, tree, 2), TOKEN).expected_accepted)
        assert max(means) == most_accepted(batch, TOKEN)


def test_one_token_of_one_of_two_requests():
    for batch in Batches(named("all"), 3, 1, 2, 1, 12):
        rows = [(each.target[()], each.proposal[()]) for each in batch.requests]
        assert most_accepted(batch, TOKEN) == max(total(meet(p, q)) for p, q in rows)


def test_without_capacity_nothing_is_accepted_and_with_all_of_it_everything_is_tried():
    for batch in Batches(named("all"), 2, 2, 2, 4, 4):
        everything = judge_batch(batch, TOKEN).expected_accepted
        assert most_accepted(batch, TOKEN) == everything
        assert most_accepted(Batch(batch.requests, named("all"), 0), TOKEN) == 0
