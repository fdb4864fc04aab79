"""Trees over large vocabularies have the laws of the exact schemes and the tokens that were asked for."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.strategies import tables
from draftproof.theory.draft import Node
from draftproof.theory.drafts import best_first
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.greedy import top_and_sample
from draftproof.theory.drafts.shape import inner
from draftproof.theory.drafts.stratified import from_strata
from draftproof.theory.drafts.top_k import top
from draftproof.theory.drafts.tree import with_replacement, without_replacement
from draftproof.theory.numbers import exact
from studies.tree_designs import drafts
from tests.checks import outcomes

EXACT = {
    drafts.iid: with_replacement,
    drafts.without: without_replacement,
    drafts.top: top,
    drafts.greedy: top_and_sample,
    drafts.strata: from_strata,
}
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


def below(root: Node) -> int:
    return sum(1 for _ in root) - 1


@pytest.mark.parametrize("ours", EXACT, ids=lambda each: each.__name__)
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("row", Q)
def test_siblings_have_the_exact_law(ours, count, row):
    q = tuple(map(exact, row))
    law = Counter()
    for weight, tokens in outcomes(lambda oracle: EXACT[ours](oracle, q, count)):
        law[tuple(tokens)] += float(weight)
    rng = np.random.default_rng(0)
    floats = np.array(q, dtype=float)
    seen = Counter(tuple(ours(floats, count, rng)) for _ in range(COUNT))
    assert seen.keys() <= law.keys()
    for tokens, chance in law.items():
        assert abs(seen[tokens] / COUNT - chance) <= 5 * np.sqrt(chance * (1 - chance) / COUNT), tokens


@given(tables(3, 3), st.integers(1, 9), st.integers(0, 99))
def test_best_first_growth_is_the_exact_one(table, nodes, seed):
    """With the same tokens of each node both grow the same tree."""
    drawn = {}

    def ours(q, count, rng, siblings=drafts.strata):
        drawn[len(drawn)] = siblings(q, count, rng)
        return drawn[len(drawn) - 1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drafts, "strata", ours)
        root = drafts.best_first(Rows(table), nodes, np.random.default_rng(seed))
        replay = iter(drawn.values())
        patch.setattr(best_first, "from_strata", lambda oracle, q, count: next(replay)[:count])
        wanted = BestFirst(nodes, nodes).draw(None, table).root  # type: ignore[arg-type]
    assert [each.prefix for each in root] == [each.prefix for each in wanted]


@pytest.mark.parametrize("growth", [drafts.ddtree, drafts.eagle2])
@given(table=tables(3, 2, zeros=False), nodes=st.integers(1, 12))
def test_top_k_trees_have_the_likeliest_prefixes(growth, table, nodes):
    q = Rows(table)
    kept = {each.prefix for each in growth(q, nodes, np.random.default_rng(0)) if each.prefix}
    assert len(kept) == nodes
    assert all(not prefix[:-1] or prefix[:-1] in kept for prefix in kept)

    def reach(prefix):
        return np.prod([q[prefix[:d]][x] for d, x in enumerate(prefix)])

    others = {(*each, x) for each in (*kept, ()) for x in range(3)} - kept
    if growth is drafts.ddtree:
        assert min(map(reach, kept)) >= max(map(reach, others)) - 1e-12


def test_uneven_shapes_have_the_tokens_asked_for():
    for nodes in (1, 2, 8, 32):
        assert sum(inner(drafts.uneven(nodes))) == nodes
    assert drafts.uneven(8)[0][0], "the first child is the deepest"


def test_places_beyond_the_end_of_a_line_are_on_it():
    line = np.cumsum([0.3, 0.7, 0.0])
    assert drafts._at(line, np.array([0.0, 0.3, 1 - 1e-17, 1.0])) == [0, 1, 1, 1]
