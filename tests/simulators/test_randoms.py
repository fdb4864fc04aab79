from random import Random

import pytest

from draftproof.simulators.instances.randoms import Randoms, drawn
from draftproof.theory.drafts.chain import Chain
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
    random = Random(0)
    found = [drawn(random, 2) for _ in range(300)]
    assert all(any(weights) and min(weights) >= 0 for weights in found)
    assert any(0 in weights for weights in found)
    assert max(map(max, found)) == 20


def test_names_tell_instances_apart():
    assert len({instance.name for instance in MANY}) == len(MANY)
