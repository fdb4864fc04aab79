"""Known ways to lose the law: right rules on drafts they are not made for."""

from dataclasses import replace

import pytest

from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.numbers import exact
from draftproof.theory.verifiers import named
from tests.checks import assert_lossless, is_lossy

PAIR = every(2, 1)


def redrawn(name, change):
    """The verifier on a draft that was changed after it was drawn."""
    verifier = named(name)
    return replace(
        verifier, verify=lambda oracle, draft, target: verifier.verify(oracle, change(draft), target)
    )


def mistaken(draft):
    return Draft(draft.root, replacement=not draft.replacement)


def by_id(draft):
    return resorted(draft, lambda node, child: child.token)


def by_likelihood(draft):
    return resorted(draft, lambda node, child: -node.proposal[child.token])


def resorted(draft, key):
    def sort(node):
        children = sorted(map(sort, node.children), key=lambda child: key(node, child))
        return Node(node.prefix, node.proposal, tuple(children))

    return Draft(sort(draft.root), replacement=draft.replacement)


def likeliest_only(draft):
    root = draft.root
    best = max(root.children, key=lambda child: root.proposal[child.token])
    return Draft(Node(root.prefix, root.proposal, (best,)))


MISUSES = {
    "with-replacement rule on draws without": ("specinfer", mistaken, False, "holes in both", 3, "2/5"),
    "traversal that takes draws without for draws with": (
        "traversal",
        mistaken,
        False,
        "holes in both",
        3,
        "2/5",
    ),
    "without-replacement rule on draws with": ("rrs", mistaken, True, "toy", 2, "2/9"),
    "traversal that takes draws with for draws without": ("traversal", mistaken, True, "toy", 2, "2/9"),
    "siblings re-sorted by id": ("rrs", by_id, False, "equal", 2, "2/3"),
    "siblings re-sorted by id, traversal": ("traversal", by_id, False, "equal", 2, "2/3"),
    "siblings re-sorted by likelihood": ("rrs", by_likelihood, False, "equal", 2, "1/3"),
    "siblings re-sorted by likelihood, traversal": ("traversal", by_likelihood, False, "equal", 2, "1/3"),
    "i.i.d. siblings re-sorted by id": ("specinfer", by_id, True, "equal", 2, "2/9"),
    "pruned to the likeliest child": ("token", likeliest_only, False, "equal", 2, "1/3"),
}


@pytest.mark.parametrize(
    ("name", "change", "replacement", "where", "vocab", "distance"), MISUSES.values(), ids=MISUSES
)
def test_a_misused_rule_is_lossy(name, change, replacement, where, vocab, distance):
    verdict = judge(scenario(where, Tree(PAIR, replacement), vocab), redrawn(name, change))
    assert verdict.total_variation == exact(distance)


@pytest.mark.parametrize("name", ["token", "block", "specinfer", "rrs", "traversal", "naive-tree"])
def test_ratios_of_q_are_wrong_on_a_deterministic_tree(name):
    likeliest = scenario("equal", TopK(PAIR), 2)
    assert judge(likeliest, named(name)).total_variation == exact("1/3")


@pytest.mark.parametrize("change", [mistaken, by_id, by_likelihood])
@pytest.mark.parametrize("name", ["nss", "one-hot"])
@pytest.mark.parametrize("replacement", [False, True])
def test_rules_that_never_look_at_q_survive_all_of_it(name, change, replacement):
    for where in ("toy", "equal", "holes in both", "seesaw"):
        assert_lossless(scenario(where, Tree(PAIR, replacement), 3), redrawn(name, change))


def test_the_toy_pair_shows_no_loss_where_the_draws_are_what_they_seem():
    for replacement, name in ((False, "rrs"), (True, "specinfer")):
        assert not is_lossy(scenario("toy", Tree(PAIR, replacement), 2), named(name))
