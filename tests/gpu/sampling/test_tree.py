"""Trees by parents: tables, orders, merged paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.against_exact.drafts import Drafted, from_leaf_to_root  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.theory.draft import Draft, Node  # noqa: E402
from draftproof.theory.drafts.paths import _merged  # noqa: E402
from draftproof.theory.errors import BadInput  # noqa: E402


def parents(size: int) -> st.SearchStrategy[list[int]]:
    return st.tuples(st.just(-1), *(st.integers(0, i - 1) for i in range(1, size))).map(list)


trees = st.integers(1, 9).flatmap(parents)


def nodes(given: list[int]) -> list[Node]:
    below = {i: [j for j, up in enumerate(given) if up == i] for i in range(len(given))}
    made: dict[int, Node] = {}
    for i in reversed(range(len(given))):
        made[i] = Node((i,), None, tuple(made[j] for j in below[i]))
    return [made[i] for i in range(len(given))]


@given(trees)
def test_turns_are_the_traversal_of_the_theory(given):
    order = [node.prefix[0] for node in from_leaf_to_root(nodes(given)[0])]
    assert Tree(given).turn[0].argsort().tolist() == order


@given(trees)
def test_steps_come_after_what_they_depend_on(given):
    tree = Tree(given)
    seen: list[int] = []
    for step in tree.steps:
        together = step.tolist()
        assert len({given[i] for i in together}) == len(together)
        for i in together:
            assert given[i] in (0, *seen)
            assert all(j in seen for j in range(1, i) if given[j] == given[i])
        seen += together
    assert sorted(seen) == list(range(1, len(given)))


@given(trees)
def test_a_tree_by_row_has_the_same_tables(given):
    shared, by_row = Tree(given), Tree(torch.tensor([given, given]), depth=len(given))
    for name in ("parents", "levels", "turn", "rows"):
        assert torch.equal(getattr(shared, name).expand(2, -1), getattr(by_row, name)), name
    assert [given[i] for i in range(1, len(given)) if not shared.older[0, i].any()] == list(
        dict.fromkeys(given[1:])
    )


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.data())
def test_merged_paths_are_those_of_the_theory(K, gamma, vocab, data):
    one = st.lists(st.integers(0, vocab - 1), min_size=gamma, max_size=gamma)
    paths = data.draw(st.lists(one, min_size=K, max_size=K))
    tree, tokens = Tree.merged(torch.tensor([paths]))
    assert not tree.replacement
    below: dict[int, list[int]] = {}
    for i, token in enumerate(tokens[0].tolist(), 1):
        if token >= 0:
            below.setdefault(int(tree.parents[0, i]), []).append(i)
    want = _merged(
        {tuple(path[:i]): None for path in paths for i in range(gamma)}, (), [tuple(p) for p in paths]
    )

    def same(node: Node, i: int) -> None:
        children = below.get(i, [])
        assert [child.token for child in node.children] == [int(tokens[0, j - 1]) for j in children]
        for child, j in zip(node.children, children, strict=True):
            same(child, j)

    same(want, 0)
    unmerged = Tree.paths(K, gamma)
    assert torch.equal(tree.rows, unmerged.rows)
    assert len(Drafted(None, Draft(want), None).nodes) == 1 + int((tokens >= 0).sum())

    def sweeps(i: int) -> int:
        children = below.get(i, [])
        return max([len(children), *(older + sweeps(j) for older, j in enumerate(children))])

    assert sweeps(0) <= tree.leaves == K
    assert len({*map(tuple, paths)}) < K or gamma > 1 or sweeps(0) == K


def test_nothing_below_a_missing_node_is_drawn():
    tree = Tree([-1, 0, 0, 1, 3])
    assert tree.drawn(torch.tensor([[-1, 5, 6, 7]])).tolist() == [[True, False, True, False, False]]


@pytest.mark.parametrize("bad", [[], [1, 0], [-1, 1], [-1, 0, 3, 0], [-1, -1], [[[-1]]]])
def test_parents_that_are_no_tree_are_refused(bad):
    with pytest.raises(BadInput):
        Tree(bad)


def test_chains_paths_and_shapes():
    assert Tree.chain(0).size == 1
    assert Tree.chain(3).is_chain
    assert not Tree.paths(2, 2).is_chain
    assert Tree.paths(2, 2).parents.tolist() == [[0, 0, 0, 1, 2]]
    assert Tree.of_shape([]).size == 1
    assert Tree.of_shape([[[], []], [[]]]).parents.tolist() == [[0, 0, 0, 1, 1, 2]]
