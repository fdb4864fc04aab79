"""Certificates hold exactly, whatever float solution they start from."""

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.theory.errors import BadInput
from draftproof.theory.transport import certificate
from draftproof.theory.transport.certificate import Transport, certified, network_simplex
from draftproof.theory.transport.flow import Network
from tests.checks import holds
from tests.theory.transport.solvers import highs, value

HALF = fmpq(1, 2)


@st.composite
def problems(draw: st.DrawFn) -> Transport:
    m, n = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    masses = st.integers(0, 9)
    supply = draw(st.lists(masses, min_size=m, max_size=m).filter(any))
    demand = draw(st.lists(masses, min_size=n, max_size=n).filter(any))
    reward = draw(st.lists(st.integers(-3, 4), min_size=m * n, max_size=m * n))
    return Transport(
        tuple(fmpq(x, sum(supply)) for x in supply),
        tuple(fmpq(x, sum(demand)) for x in demand),
        np.array(reward, dtype=np.int64).reshape(m, n),
    )


@given(problems())
def test_both_solvers_lead_to_the_same_certificate(problem: Transport) -> None:
    pot, linear = network_simplex(problem), highs(problem)
    first, second = certified(problem, pot), certified(problem, linear)
    assert holds(first)
    assert holds(second)
    assert first.value == second.value == first.primal
    # Masses are rounded to 2^-48 and rewards are at most 4: far below the 1e-9 that is asked for.
    assert abs(value(problem, pot) - float(first.value)) < 1e-9
    assert abs(value(problem, linear) - float(first.value)) < 1e-9


@given(problems(), st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_a_useless_float_solution_is_mended(problem: Transport, seed: int) -> None:
    random = np.random.default_rng(seed)
    m, n = problem.reward.shape
    junk = random.random((m, n)), 9 * random.random(n) - 4
    assert holds(certified(problem, junk))
    assert certified(problem, junk).value == certified(problem).value


def test_the_network_simplex_on_the_toy() -> None:
    p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    problem = Transport(q, p, np.eye(2, dtype=int))
    assert round(value(problem, network_simplex(problem)), 9) == 0.666666667


def test_a_wrong_certificate_does_not_hold() -> None:
    found = certified(Transport((HALF, HALF), (fmpq(1, 3), fmpq(2, 3)), np.eye(2, dtype=int)))
    assert holds(found)
    assert not holds(replace(found, v=found.v - 1))
    assert not holds(replace(found, plan={(0, 1): HALF, (1, 1): HALF}))


@pytest.mark.parametrize(
    ("supply", "demand", "reward", "message"),
    [
        ((), (HALF,), np.zeros((0, 1), dtype=int), "transport of 0 to 1"),
        ((HALF,), (HALF,), np.zeros((1, 2), dtype=int), "with rewards"),
        ((HALF,), (HALF,), np.zeros((1, 1)), "not integers"),
        ((HALF, -HALF, HALF), (HALF,), np.zeros((3, 1), dtype=int), "negative"),
        ((HALF,), (fmpq(1, 3),), np.zeros((1, 1), dtype=int), "supply 1/2 and demand 1/3 differ"),
        ((fmpq(0),), (fmpq(0),), np.zeros((1, 1), dtype=int), "no mass"),
    ],
)
def test_problems_that_do_not_fit_are_refused(supply, demand, reward, message) -> None:
    with pytest.raises(BadInput, match=message):
        Transport(supply, demand, reward)


def test_a_good_float_solution_is_certified_by_one_flow(monkeypatch) -> None:
    made = []

    class Counted(Network):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr(certificate, "Network", Counted)
    masses = tuple(fmpq(n, 21) for n in (1, 2, 3, 4, 5, 6))
    reward = np.array([[(i * j) % 7 + i for j in range(6)] for i in range(6)])
    assert holds(certified(Transport(masses, masses[::-1], reward)))
    assert len(made) == 1
