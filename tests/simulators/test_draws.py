"""Instances drawn by the thousand: laws, lanes that are the instances, and what the i-th depends on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.draws import Dirichlet, Draws, Logits
from draftproof.theory.drafts.chain import Chain

LAWS = st.one_of(
    st.builds(Logits, st.floats(0.1, 5), st.floats(0, 1), st.floats(0.1, 5)),
    st.builds(Dirichlet, st.floats(0.1, 5), st.floats(0, 1)),
)


@given(LAWS, st.integers(2, 4), st.integers(1, 2), st.sampled_from([1, 7, 360, 2**20]), st.integers(0, 99))
def test_rows_are_exact_laws_and_lanes_are_the_nearest_floats(law, vocab, depth, grain, seed):
    draws = Draws(Chain(depth), vocab, 5, seed, law, grain)
    lanes = draws.lanes(0, 5)
    for index in (0, 4):
        instance = draws[index]  # an Instance checks nothing of its rows
        for exact, many in ((instance.target, lanes.target), (instance.proposal, lanes.proposal)):
            for prefix, row in exact.given():
                assert sum(row) == 1
                assert min(row) >= 0
                assert [float(int(x.p) / int(x.q)) for x in row] == many[prefix][:, index].tolist()


def test_an_instance_depends_on_its_number_only():
    few, many = (Draws(Chain(2), 3, size, 1, Logits()) for size in (10, 20_000))
    assert few[9] == many[9]
    assert many[9] != many[9 + many.block]
    assert Draws(Chain(2), 3, 10, 2, Logits())[9] != few[9]
    with pytest.raises(IndexError):
        few[10]


def test_depths_and_temperatures_share_their_logits():
    shallow, deep = (Draws(Chain(depth), 3, 4, 0, Logits()) for depth in (1, 3))
    assert shallow[2].target[(1,)] == deep[2].target[(1,)]
    cold, hot = (Draws(Chain(1), 3, 99, 0, Logits(temperature=t)).lanes(0, 99).target[()] for t in (0.5, 2))
    assert (np.argmax(cold, axis=0) == np.argmax(hot, axis=0)).all()
    assert (cold.max(axis=0) >= hot.max(axis=0)).all()


def test_at_distance_0_the_proposal_is_the_target():
    for law in (Logits(far=0.0), Dirichlet(far=0.0)):
        one = Draws(Chain(1), 3, 9, 0, law)[5]
        assert one.target[()] == one.proposal[()]
