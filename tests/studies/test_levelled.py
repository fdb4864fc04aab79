"""Two siblings levelled on a grid of rates: lossless by its flow, and the exact rule's values on the grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.strategies import rows
from draftproof.simulators.study import designs
from draftproof.theory.rows import total
from draftproof.theory.shared.strata import strata
from draftproof.theory.verifiers import lifted_levelled
from studies.tree_designs.levelled import STEPS, Levelled
from tests.simulators.study.test_designs import floats

V = 5


def laws_of(q):
    return np.array([floats(row) for row in strata(q, 2)])


def flow(rule, laws):
    """What each token gets, over all pairs."""
    got = np.zeros(V)
    for x in np.flatnonzero(laws[0]):
        for y in np.flatnonzero(laws[1]):
            first, second = rule.shares(x, y)
            assert first >= -1e-12
            assert second >= -1e-12
            assert first + second <= 1 + 1e-12
            got[x] += laws[0, x] * laws[1, y] * first
            got[y] += laws[0, x] * laws[1, y] * second
    return got


@given(rows(V), rows(V), st.sampled_from([1, 0.3]))
def test_what_is_kept_with_what_is_left_is_t(p, q, a):
    laws, t = laws_of(q), a * floats(p)
    if len(laws) == 2:
        rule = Levelled(t, laws)
        assert flow(rule, laws) + rule.left == pytest.approx(t, abs=1e-12)


def test_shares_of_another_row_leave_something_else():
    q = np.array([0.4, 0.3, 0.2, 0.05, 0.05])
    laws, t = designs.strata_rows(q, 2), q[::-1].copy()
    other = Levelled(q, laws)
    assert np.abs(flow(other, laws) + Levelled(t, laws).left - t).max() > 0.01


@given(rows(V), rows(V))
def test_the_grid_loses_next_to_nothing(p, q):
    exact = strata(q, 2)
    if len(exact) == 2:
        best = float(1 - total(lifted_levelled.levelled(p, *exact).left))
        found = 1 - Levelled(floats(p), laws_of(q)).left.sum()
        assert best - 1 / STEPS / 4 <= found <= best + 1e-9


@given(rows(V), rows(V))
def test_on_the_grid_it_is_the_exact_rule(p, q):
    """A grid that has every rate: the exact rule's pairs of shares."""
    exact = strata(q, 2)
    if len(exact) < 2:
        return
    pi = [a + b for a, b in zip(*exact, strict=True)]
    steps = np.lcm.reduce([int((a / b).denom()) for a, b in zip(p, pi, strict=True) if 0 < a < b] + [1])
    if steps > 4000:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("studies.tree_designs.levelled.STEPS", int(steps))
        rule = Levelled(floats(p), laws_of(q))
    wanted = 1 - float(total(lifted_levelled.levelled(p, *exact).left))
    assert 1 - rule.left.sum() == pytest.approx(wanted, abs=1e-9)
