"""The search for the worst instance."""

from random import Random

import pytest
from flint import fmpq

from draftproof.simulators.study import worst
from draftproof.simulators.study.worst import ROUNDING, drawn, missing, moves, search, usual
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.verifiers import VERIFIERS, named
from tests.problems import TOY


def test_what_is_missing_on_the_toy():
    assert missing(TOY, named("token")) == fmpq(1, 9)
    assert missing(TOY, named("block")) == 0
    assert missing(TOY, named("hsd-released")) == fmpq(-1, 9)


def test_token_verification_loses_an_eighth_at_least_on_two_tokens():
    found = search(named("token"), Chain(2), 2, seconds=1.5)
    assert found.gap >= fmpq(1, 8)
    assert missing(found.instance, named("token")) == found.gap
    assert found.tried > 100
    assert all(mass.q <= 2 * worst.BOUND for _, row in found.instance.target.given() for mass in row)


def test_block_verification_has_none():
    found = search(named("block"), Chain(2), 2, seconds=0.3)
    assert found.gap == 0
    assert found.instance is not None


def test_recursive_rejection_loses_on_a_pair():
    found = search(named("rrs"), Tree(((), ())), 3, seconds=2)
    assert float(found.gap) > 0.1
    assert found.instance.draft == Tree(((), ()))


def test_the_search_ends_with_the_best_when_interrupted():
    def interrupt(found):
        if found.tried > 3:
            raise KeyboardInterrupt

    found = search(named("token"), Chain(2), 2, seconds=30, progress=interrupt)
    assert found.interrupted
    assert missing(found.instance, named("token")) == found.gap


def test_a_search_starts_where_its_seed_says():
    rows = [drawn(Random(7), Chain(2), 3, False) for _ in range(2)]
    assert rows[0] == rows[1]
    moved = moves(Random(1), rows[0])
    assert sum(moved[key] != rows[0][key] for key in moved) <= 1
    assert all(any(row) for row in moved.values())


def test_every_verifier_has_a_usual_draft():
    assert all(usual(verifier).label in verifier.drafts for verifier in VERIFIERS.values())


def test_it_refuses_a_draft_that_the_verifier_is_not_made_for():
    with pytest.raises(BadInput, match="spechub is made for spechub, not for chain"):
        search(named("spechub"), Chain(2), 2, 1)


def test_rounding_is_above_the_certified_errors():
    assert 1e-9 < ROUNDING < 1e-6
