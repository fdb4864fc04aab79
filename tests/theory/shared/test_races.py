"""Races of exponentials: marginals, symmetry, and a simulation of the races themselves."""

from itertools import product

import numpy as np
from flint import fmpq
from hypothesis import given, settings

from draftproof.theory.shared.races import target_law
from tests.theory.transport.rows import pairs


@given(pairs(3))
@settings(max_examples=40)
def test_marginals_are_p_and_q(pq) -> None:
    p, q = pq
    tokens = [x for x in range(len(q)) if q[x] > 0]
    for K in (1, 2):
        out = [fmpq(0)] * len(p)
        for drafts in product(tokens, repeat=K):
            law = target_law(p, q, drafts)
            want = fmpq(1)
            for x in drafts:
                want *= q[x]
            assert sum(law, fmpq(0)) == want
            assert law == target_law(p, q, drafts[::-1])
            out = [a + b for a, b in zip(out, law, strict=True)]
        assert tuple(out) == p


def agreement(p, q):
    """Pr(X = Y = x) of one draft: p(x) / sum_i max(p(i), q(i) p(x) / q(x)), in closed form."""
    zero = p[0] - p[0]
    row = []
    for a, b in zip(p, q, strict=True):
        pairs = [(c * b, d * a) for c, d in zip(p, q, strict=True)]
        whole = sum((max(pair) for pair in pairs), zero)
        row.append(a * b / whole if a > 0 and b > 0 else zero)
    return tuple(row)


@given(pairs())
def test_one_draft_agrees_as_the_closed_form_says(pq) -> None:
    p, q = pq
    assert agreement(p, q) == tuple(target_law(p, q, (x,))[x] if q[x] > 0 else fmpq(0) for x in range(len(p)))


def test_the_races_run_in_floats() -> None:
    p, q = (fmpq(1, 6), fmpq(1, 2), fmpq(1, 3)), (fmpq(1, 2), fmpq(1, 8), fmpq(3, 8))
    n, random = 200_000, np.random.default_rng(7)
    noise = random.exponential(size=(n, 2, 3))
    x = (noise / np.array([float(m) for m in q])).argmin(axis=2)
    y = (noise.min(axis=1) / np.array([float(m) for m in p])).argmin(axis=1)
    for a, b in product(range(3), repeat=2):
        law = target_law(p, q, (a, b))
        for c in range(3):
            want = float(law[c])
            got = float(((x[:, 0] == a) & (x[:, 1] == b) & (y == c)).mean())
            # 27 frequencies, each within 6 standard deviations: missed with probability below 1e-7
            assert abs(got - want) < 6 * (want * (1 - want) / n) ** 0.5 + 1e-12
