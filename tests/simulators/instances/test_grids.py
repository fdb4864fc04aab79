"""Exhaustive grids."""

from math import comb

import pytest
from flint import fmpq

from draftproof.simulators.instances.grids import Grid, rows
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.table import Table
from draftproof.theory.verifiers import VERIFIERS

PAIR = ((), ())
GRIDS = [
    (Chain(1), 2, 4),
    (Chain(1), 3, 2),
    (Chain(2), 2, 2),
    (Tree(PAIR, True), 3, 2),
    (Tree(PAIR, False), 3, 2),
    (Paths(2, 1), 3, 2),
]
EVERY = pytest.mark.parametrize(
    ("draft", "vocab", "denominator"), GRIDS, ids=lambda part: getattr(part, "label", None)
)


@pytest.mark.parametrize(("vocab", "denominator"), [(1, 5), (2, 1), (2, 7), (3, 4), (4, 3)])
def test_rows_are_all_the_ways_to_share_a_whole(vocab, denominator):
    found = rows(vocab, denominator)
    assert len(set(found)) == len(found) == comb(denominator + vocab - 1, vocab - 1)
    assert all(sum(row) == denominator and len(row) == vocab and min(row) >= 0 for row in found)
    assert list(found) == sorted(found)


@EVERY
def test_a_grid_has_every_choice_of_rows_once(draft, vocab, denominator):
    grid = Grid(draft, vocab, denominator)
    free = sum(vocab**length for length in range(draft.depth))
    assert len(grid) == len(rows(vocab, denominator)) ** (2 * free)
    keys = {key(instance) for instance in grid}
    assert len(keys) == len(grid)


@EVERY
def test_every_row_has_the_denominator_and_only_rows_at_full_depth_are_fixed(draft, vocab, denominator):
    fixed = set()
    for instance in list(Grid(draft, vocab, denominator))[::7]:
        tables = [*instance.target.given(), *instance.proposal.given()]
        free = [row for prefix, row in tables if len(prefix) < draft.depth]
        assert all((mass * denominator).q == 1 for row in free for mass in row)
        fixed.add(tuple(row for prefix, row in tables if len(prefix) == draft.depth))
        assert all(
            row[prefix[-1]] == max(row) > min(row) for prefix, row in tables if len(prefix) == draft.depth
        )
    assert len(fixed) == 1


def key(instance):
    return frozenset((which, *item) for which, table in enumerate(tables(instance)) for item in table.given())


def tables(instance):
    return instance.target, instance.proposal


def test_grids_are_sequences_made_on_demand():
    grid = Grid(Chain(2), 3, 6)  # 28 rows, 8 free ones
    assert len(grid) == 28**8
    assert grid[28**8 - 1].vocab == 3
    for index in (-1, 28**8):
        with pytest.raises(IndexError):
            grid[index]


def test_names_tell_grids_apart():
    grids = [Grid(*each) for each in GRIDS]
    assert len({grid.name for grid in grids}) == len(grids)
    assert grids[0][3].name.startswith(grids[0].name)


def test_a_grid_beyond_all_numbers_is_one_line():
    with pytest.raises(BadInput, match=r"grid chain depth 5 V=5 D=10: about 10\^4687 instances"):
        Grid(Chain(5), 5, 10)
    assert len(Grid(Chain(2), 2, 100)) == 101**6


@pytest.mark.parametrize("draft", [Chain(2), Tree(((), ((),)), True), TopK(((), ((),)))], ids=str)
def test_instances_that_are_not_distinct_have_the_verdict_of_an_earlier_one(draft):
    grid = Grid(draft, 2, 2)
    distinct = grid.distinct()
    assert len(distinct) == 297  # of 729: 3^5 where q drafts both tokens first, 3^3 where one of two
    rules = [each for each in VERIFIERS.values() if draft.label in each.drafts and each.carry is None]
    for index in range(0, len(grid), 97):
        given = grid[index]
        q = given.proposal
        unseen = [(x,) for x in range(2) if not q[()][x]]
        first = {prefix: rows(2, 2)[0] for prefix in unseen}
        alike = [
            Table(2, dict(table.given()) | {z: tuple(fmpq(w, 2) for w in row) for z, row in first.items()})
            for table in (given.target, q)
        ]
        [at] = [i for i in distinct if (grid[i].target, grid[i].proposal) == tuple(alike)]
        assert at <= index
        for rule in rules:
            one, other = judge(given, rule), judge(grid[at], rule)
            assert (one.total_variation, one.expected_accepted, one.wrong) == (
                other.total_variation,
                other.expected_accepted,
                other.wrong,
            )
