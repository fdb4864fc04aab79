"""Trees over large vocabularies have the laws of the exact schemes and the tokens that were asked for."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.drafts import best_first
from draftproof.theory.drafts.ddtree import DDTree
from draftproof.theory.drafts.greedy import top_and_sample
from draftproof.theory.drafts.shape import inner
from draftproof.theory.drafts.stratified import from_strata
from draftproof.theory.drafts.top_k import top
from draftproof.theory.drafts.tree import with_replacement, without_replacement
from draftproof.theory.numbers import exact
from studies.tree_designs import drafts
from tests.checks import outcomes
from tests.strategies import rows, tables

SIBLINGS = with_replacement, without_replacement, top, top_and_sample, from_strata
Q = [("1/2", "1/8", 0, "1/4", "1/8"), ("1/4", 0, "1/4", "1/2", 0), (0, 0, 1, 0, 0)]
COUNT = 2000


class Rows(dict):
    """Float rows of an exact table."""

    def __init__(self, table):
        super().__init__()
        self.table = table

    def __missing__(self, prefix):
        self[prefix] = np.array(self.table[prefix], dtype=float)
        return self[prefix]


def ddtree(q, nodes):
    return DDTree(nodes, nodes).draw(None, q).root


@pytest.mark.parametrize("siblings", SIBLINGS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("row", Q)
def test_siblings_drawn_from_floats_have_the_exact_law(siblings, count, row):
    q = tuple(map(exact, row))
    law = Counter()
    for weight, tokens in outcomes(lambda oracle: siblings(oracle, q, count)):
        law[tuple(tokens)] += float(weight)
    sampler = drafts.Sampler(np.random.default_rng(0))
    floats = np.array(q, dtype=float)
    seen = Counter(tuple(siblings(sampler, floats, count)) for _ in range(COUNT))
    assert seen.keys() <= law.keys()
    for tokens, chance in law.items():
        assert abs(seen[tokens] / COUNT - chance) <= 5 * np.sqrt(chance * (1 - chance) / COUNT), tokens


@given(rows(4, zeros=True), st.integers(1, 4), st.integers(0, 5))
def test_what_best_first_growth_expects_of_floats_is_what_it_expects_of_rationals(q, count, depth):
    floats = np.array(q, dtype=float)
    wanted = best_first.accepted(q, best_first.doubt(q, depth), count)
    found = best_first.accepted(floats, best_first.doubt(floats, depth), count)
    assert found == pytest.approx(list(map(float, wanted)))


@pytest.mark.parametrize("growth", [ddtree, drafts.eagle2])
@given(table=tables(3, 2, zeros=False), nodes=st.integers(1, 12))
def test_top_k_trees_have_the_likeliest_prefixes(growth, table, nodes):
    q = Rows(table)
    kept = {each.prefix for each in growth(q, nodes) if each.prefix}
    assert len(kept) == nodes
    assert all(not prefix[:-1] or prefix[:-1] in kept for prefix in kept)

    def reach(prefix):
        return np.prod([q[prefix[:d]][x] for d, x in enumerate(prefix)])

    others = {(*each, x) for each in (*kept, ()) for x in range(3)} - kept
    if growth is ddtree:
        assert min(map(reach, kept)) >= max(map(reach, others)) - 1e-12


def test_uneven_shapes_have_the_tokens_asked_for():
    for nodes in (1, 2, 8, 32):
        assert sum(inner(drafts.uneven(nodes))) == nodes
    assert drafts.uneven(8)[0][0], "the first child is the deepest"


def test_numbers_beyond_the_end_of_a_row_draw_its_last_token():
    class Given:
        def __init__(self, number):
            self.random = lambda: number

    row = np.array([0.3, 0.7, 0.0])
    drawn = [drafts.Sampler(Given(number)).choose(row) for number in (0.0, 0.3, 1 - 1e-17, 1.0)]
    assert drawn == [0, 1, 1, 1]
