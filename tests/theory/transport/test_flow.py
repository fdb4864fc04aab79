"""Flows of the largest gain are optimal, and keep to their capacities."""

import numpy as np
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from draftproof.theory.transport.flow import Network

Arcs = dict[tuple[int, int], tuple[fmpq, int]]


@st.composite
def networks(draw: st.DrawFn) -> tuple[int, Arcs]:
    """Nodes 0 (source) .. n - 1 (sink), arcs upwards with a capacity and a gain."""
    nodes = draw(st.integers(3, 6))
    pairs = [(a, b) for a in range(nodes) for b in range(a + 1, nodes)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=2))
    arcs = {}
    for pair in chosen:
        capacity = fmpq(draw(st.integers(0, 6)), draw(st.integers(1, 5)))
        arcs[pair] = capacity, draw(st.integers(0, 3))
    return nodes, arcs


@given(networks())
def test_no_flow_gains_more(network: tuple[int, Arcs]) -> None:
    nodes, arcs = network
    net = Network()
    for (a, b), (capacity, gain) in arcs.items():
        net.widen(a, b, capacity, gain)
    net.widen(0, "unused", fmpq(0))
    net.widen("spare", nodes - 1, fmpq(0))
    net.saturate(0, nodes - 1)
    found = {pair: net.flow(*pair) for pair in arcs}
    for pair, mass in found.items():
        assert 0 <= mass <= arcs[pair][0]
    balance = np.zeros((nodes, len(arcs)))
    for n, (a, b) in enumerate(arcs):
        balance[a, n], balance[b, n] = -1, 1
    for node in range(1, nodes - 1):
        mass = sum((found[pair] * int(balance[node, n]) for n, pair in enumerate(arcs)), fmpq(0))
        assert mass == 0
    best = linprog(
        [-float(gain) for _, gain in arcs.values()],
        A_eq=balance[1:-1],
        b_eq=np.zeros(nodes - 2),
        bounds=[(0, float(capacity)) for capacity, _ in arcs.values()],
        method="highs",
    )
    gained = sum((mass * arcs[pair][1] for pair, mass in found.items()), fmpq(0))
    assert abs(float(gained) + best.fun) < 1e-9


@given(st.integers(1, 5), st.integers(1, 5))
def test_widening_goes_on_from_what_is_carried(first: int, second: int) -> None:
    net = Network()
    net.widen("in", "out", fmpq(first), 1)
    net.saturate("in", "out")
    net.widen("in", "out", fmpq(second))
    assert net.flow("in", "out") == first
    net.saturate("in", "out")
    assert net.flow("in", "out") == first + second
