"""E[tau] for all p and q."""

from itertools import product
from math import prod

import pytest

from draftproof.proofs_check.claims.checks import compare
from draftproof.proofs_check.claims.quantities import Quantity
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.rows import minimum


def chain(name, depth=2):
    return Quantity(name).mean(Chain(depth))


def words(domain):
    """The pairs (p, q) along every word of 1 .. depth tokens."""
    for length in range(1, domain.depth + 1):
        for word in product(range(domain.vocab), repeat=length):
            yield [(domain.target[word[:i]][x], domain.proposal[word[:i]][x]) for i, x in enumerate(word)]


def token_mean(domain, oracle):
    """sum over words of the product of min(p, q) (leviathan2023fast)."""
    one = domain.number(1)
    return sum((prod((minimum(p, q) for p, q in word), start=one) for word in words(domain)), 0 * one)


def block_mean(domain, oracle):
    """sum over words of q(word) w(word), carried as Q w = min(Q, the one before times p) (sun2025block)."""
    out = domain.number(0)
    for word in words(domain):
        Q = carried = domain.number(1)
        for p, q in word:
            Q = Q * q
            carried = minimum(carried * p, Q)
        out = out + carried
    return out


def full_information(domain, oracle):
    """sum over words of min(p(word), q(word)), what greedy block verification accepts (sun2025block)."""
    one = domain.number(1)
    return sum(
        (minimum(*(prod(row, start=one) for row in zip(*word, strict=True))) for word in words(domain)),
        0 * one,
    )


@pytest.mark.slow
def test_closed_forms_of_the_papers():
    assert compare(chain("token"), token_mean, 2, 2) == "equal"
    assert compare(chain("block"), block_mean, 2, 2) == "equal"
    assert compare(chain("greedy-block"), full_information, 2, 2) == "equal"


def test_a_wrong_closed_form_is_not_equal():
    assert compare(chain("block"), token_mean, 2, 2) == "never below"


def test_the_lower_one_is_refuted():
    assert compare(chain("token"), chain("block"), 2, 2) == "refuted"


@pytest.mark.slow
def test_lossy_rules_may_accept_more():
    assert compare(chain("hsd-released"), chain("block"), 2, 2) == "never below"
