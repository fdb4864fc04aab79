"""Targets derived from another one: which rows are their own, and which are equal."""

from itertools import product

from draftproof.simulators.instances.randoms import Randoms
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.numbers import exact
from draftproof.theory.verifiers.shared.modified_target import Modified, Replaced

(INSTANCE,) = Randoms(Chain(3), 2, 1)
P, Q = INSTANCE.target, INSTANCE.proposal
WORDS = [word for length in range(4) for word in product(range(2), repeat=length)]


def test_replaced_rows_stand_after_their_prefixes_only():
    row = exact("1/7"), exact("6/7")
    replaced = Replaced(P, {(1,): row, (0, 1): row})
    assert [replaced[word] for word in WORDS] == [
        row if word in ((1,), (0, 1)) else P[word] for word in WORDS
    ]
    assert replaced.vocab == P.vocab


def test_derived_targets_are_equal_if_they_are_made_of_the_same():
    rows = {(1,): P[()]}
    assert Replaced(P, rows) == Replaced(P, rows)
    assert hash(Replaced(P, rows)) == hash(Replaced(P, rows))
    assert Replaced(P, rows) != Replaced(P, dict(rows))
    assert Modified(P, Q, 0, 2) == Modified(P, Q, 0, 2)
    others = Modified(P, Q, 0, 3), Modified(P, Q, 1, 2), Modified(P, P, 0, 2), Modified(Q, Q, 0, 2)
    assert all(Modified(P, Q, 0, 2) != other for other in others)
    assert Modified(P, Q, 0, 2) != Replaced(P, rows)
