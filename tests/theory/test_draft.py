from draftproof.theory.draft import Draft, Node, chained
from draftproof.theory.numbers import ONE
from tests.checks import bracketed

Q = (ONE,)
LEAF = Node((7, 0, 1), None)
TWIN = Node((7, 0), None)
FIRST = Node((7, 0), Q, (LEAF,))
OTHER = Node((7, 2), None)
ROOT = Node((7,), Q, (FIRST, OTHER, TWIN))


def test_a_node_is_named_by_its_last_token():
    assert [node.token for node in (ROOT, FIRST, OTHER, LEAF)] == [7, 0, 2, 1]


def test_of_equal_siblings_the_first_copy_is_found():
    assert ROOT.child(0) is FIRST
    assert ROOT.child(2) is OTHER
    assert ROOT.child(1) is None
    assert LEAF.child(0) is None


def test_paths_run_from_root_to_leaf_in_drawing_order():
    assert Draft(ROOT).paths == ((ROOT, FIRST, LEAF), (ROOT, OTHER), (ROOT, TWIN))


def test_the_path_is_the_first_of_them():
    assert Draft(ROOT).path == (ROOT, FIRST, LEAF) == Draft(ROOT).paths[0]
    assert Draft(LEAF).path == (LEAF,)


def test_paths_that_were_given_are_kept():
    twice = ((ROOT, OTHER), (ROOT, OTHER))
    assert Draft(ROOT, paths=twice).paths == twice


def test_brackets_tell_drafts_apart():
    wide = Node((), Q, (Node((0,), None), Node((1,), None)))
    deep = Node((), Q, (Node((0,), Q, (Node((0, 1), None),)),))
    assert bracketed(Draft(wide)) == (0, -1, 1, -1, -1)
    assert bracketed(Draft(deep)) == (0, 1, -1, -1, -1)


def test_one_path_is_built_from_its_leaf() -> None:
    root = chained((1, 0), [(1, 0)])
    assert (root.prefix, root.proposal) == ((1,), (1, 0))
    assert repr(root.children) == "(Node((1, 0), []),)"
