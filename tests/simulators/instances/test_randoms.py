"""Random instances: laws, and what the i-th depends on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.randoms import Edges, Logits, Mixed, Randoms, rounded
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import supported
from tests.problems import SCHEMES

MANY = list(Randoms(Chain(2), 3, 80))


def rows(table):
    return [row for _, row in table.given()]


def test_an_instance_depends_on_its_seed_and_number_only():
    few, many = Randoms(Chain(2), 3, 5, seed=7), Randoms(Chain(2), 3, 50, seed=7)
    assert list(few) == [many[i] for i in range(5)]
    assert few[3] == few[3]


def test_other_seeds_and_numbers_give_other_instances():
    seeds = [Randoms(Chain(2), 3, 1, seed=seed)[0] for seed in range(20)]
    assert all(a != b for i, a in enumerate(seeds) for b in seeds[:i])
    assert all(a != b for i, a in enumerate(MANY[:20]) for b in MANY[:i])


@pytest.mark.parametrize("label", SCHEMES)
def test_every_prefix_has_a_row_of_its_own(label):
    scheme = SCHEMES[label]
    for instance in Randoms(scheme, 3, 5):
        assert instance.draft == scheme
        assert len(rows(instance.target)) == sum(3**length for length in range(scheme.depth + 1))
        assert len(rows(instance.proposal)) == sum(3**length for length in range(scheme.depth))


def test_edges_are_common():
    """Zeros in p, holes in q under p, one-hot rows, and proposals equal to the target."""
    pairs = [(each.target[prefix], q) for each in MANY for prefix, q in each.proposal.given()]
    for edge in (
        lambda p, q: ZERO in p,
        lambda p, q: any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)),
        lambda p, q: supported(p) == 1,
        lambda p, q: supported(q) == 1,
        lambda p, q: p == q,
    ):
        assert 5 <= sum(edge(p, q) for p, q in pairs) <= len(pairs) / 2


def test_out_of_range_is_an_index_error():
    for index in (-1, 80):
        with pytest.raises(IndexError):
            Randoms(Chain(2), 3, 80)[index]


def test_weights_are_never_all_zero():
    found, _ = next(Edges().rows(np.random.default_rng(0), 2, 300))
    assert (found.sum(axis=0) > 0).all()
    assert (found.min(), found.max()) == (0, 20)


def test_names_tell_instances_apart():
    assert len({instance.name for instance in MANY}) == len(MANY)


GRAINS = st.sampled_from([1, 7, 360, 2**20])
LAWS = st.one_of(
    st.just(Edges()),
    st.builds(Mixed, grain=GRAINS),
    st.builds(Logits, st.floats(0.1, 5), st.floats(0, 1), st.floats(0.1, 5), GRAINS),
)


@given(LAWS, st.integers(2, 4), st.integers(1, 2), st.integers(0, 99))
def test_rows_are_exact_laws(law, vocab, depth, seed):
    family = Randoms(Chain(depth), vocab, 5, seed, law)
    for index in (0, 4):
        instance = family[index]  # an Instance checks nothing of its rows
        for table in (instance.target, instance.proposal):
            for _, row in table.given():
                assert sum(row) == 1
                assert min(row) >= 0


def test_an_instance_depends_on_its_number_only_beyond_a_block():
    few, many = (Randoms(Chain(2), 3, size, 1, Logits()) for size in (10, 20_000))
    assert few[9] == many[9]
    assert many[9] != many[9 + many.block]
    assert Randoms(Chain(2), 3, 10, 2, Logits())[9] != few[9]
    with pytest.raises(IndexError):
        few[10]


def test_depths_and_temperatures_share_their_logits():
    shallow, deep = (Randoms(Chain(depth), 3, 4, 0, Logits()) for depth in (1, 3))
    assert shallow[2].target[(1,)] == deep[2].target[(1,)]
    cold, hot = (Randoms(Chain(1), 3, 99, 0, Logits(temperature=t)) for t in (0.5, 2))
    for a, b in zip(cold, hot, strict=True):
        a, b = a.target[()], b.target[()]
        assert a[b.index(max(b))] == max(a) >= max(b)


def test_at_distance_0_the_proposal_is_the_target():
    one = Randoms(Chain(1), 3, 9, 0, Logits(far=0.0))[5]
    assert one.target[()] == one.proposal[()]


def test_temperature_divides_logits():
    warm, cold = (Randoms(Chain(1), 3, 9, law=Logits(temperature=at))[0] for at in (1.0, 0.5))
    for table, cooled in ((warm.target, cold.target), (warm.proposal, cold.proposal)):
        row, other = table[()], cooled[()]
        assert all(360 % mass.q == 0 for mass in (*row, *other))
        squares = [float(mass) ** 2 for mass in row]
        for mass, square in zip(other, squares, strict=True):
            assert abs(float(mass) - square / sum(squares)) < 10 / 360  # warm rows are rounded too


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6).filter(any), GRAINS)
def test_rounding_moves_a_probability_by_a_grain_a_token_at_most(row, grain):
    exact = np.array(row)[:, None] / sum(row)
    found = rounded(exact, grain)
    assert found.sum() == grain
    assert (abs(found / grain - exact) <= len(row) / grain).all()


def test_instances_too_large_to_write_down_are_refused():
    with pytest.raises(BadInput, match="at most 100,000 prefixes"):
        Randoms(Chain(200), 3, 1, law=Mixed())[0]
