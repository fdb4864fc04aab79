"""What `layered_lossless` in Rocq assumes of plans and rows is what the Python's plans and rows do."""

from collections import defaultdict
from itertools import pairwise

import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.instances.suite import GROUPS, PAIR, UNEVEN
from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.rows import scale, total
from draftproof.theory.verifiers import layered
from tests.mutants.edits import edited

DRAFTS = (Chain(2), Tree(PAIR, True), Tree((PAIR, ()), True), Tree(UNEVEN), Paths(2, 2), Tree(GROUPS))


def cut(children, depth):
    """The drawn tree down to a level."""
    return tuple((child.token, cut(child.children, depth - 1)) for child in children) if depth else ()


def levels(descend, draft, target):
    """For each level of a draft: its rows, [(word, row), ..], and what the plan leaves of them."""
    frontier = [(draft.root, target[draft.root.prefix])]
    while frontier:
        rows = [(node.prefix, row) for node, row in frontier]
        left, stops, frontier = descend(draft, frontier, target)
        yield rows, left, sorted((node.prefix, scale(mass, row)) for node, mass, row in stops)
    yield [], 1, []


def assumed(verifier, instance):
    """Whether rows and plans are as `valid`, `plans`, `draws` and `multiples` say, on every drawn level."""
    descend = verifier.verify.__globals__["descend"]
    target = instance.target
    means = defaultdict(lambda: defaultdict(fmpq))  # (level, drawn so far) -> (word, token) -> mean row below
    seen = {}
    for chance, draft in drafts(instance):
        made = list(levels(descend, draft, target))
        for depth, (above, below) in enumerate(pairwise(made)):
            drawn = depth, cut(draft.root.children, depth)
            assert seen.setdefault(drawn, above) == above  # the plan knows what was drawn down to its level
            mean = means[drawn]
            mean[()] += chance
            for word, row in below[0]:
                for y, mass in enumerate(row):
                    mean[(*word, y)] += chance * mass
    for drawn, (rows, left, residuals) in seen.items():
        mean, whole, taken = means[drawn], means[drawn][()], defaultdict(fmpq)
        if sum(map(total, (row for _, row in rows))) > 1 or any(x < 0 for _, row in residuals for x in row):
            return False
        for sign, some in ((1, rows), (-1, residuals)):
            for word, row in some:
                for x, mass in enumerate(row):
                    taken[(*word, x)] += sign * mass
        if left != 1 - sum(taken.values()):
            return False
        multiples = {
            (*word, y): whole * mass * p
            for word, mass in taken.items()
            if mass
            for y, p in enumerate(target[word])
        }
        if any(mean[word] != multiples.get(word, 0) for word in {*mean, *multiples} - {()}):
            return False
    return True


def instances(draft):
    vocab = 3 if draft.depth == 1 or draft == Tree(GROUPS) else 2  # two groups of nodes take three tokens
    return [*Randoms(draft, vocab, 2), Scenarios(draft, vocab)[1]]


@pytest.mark.parametrize("draft", DRAFTS, ids=str)
def test_plans_and_rows_are_as_the_theorem_says(draft):
    assert all(assumed(layered.VERIFIER, instance) for instance in instances(draft))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("scale(left * w, target", "scale(L * w, target"),
        ("laws, L, segments", "laws, L * 0 + 1, segments"),
        ("w, target[child.prefix]", "w, target[draft.root.prefix]"),
        ("zip(nodes, planned.left,", "zip(nodes, [e for _, e in nodes],"),
    ],
)
def test_other_rows_are_not(old, new):
    broken = edited(layered, (old, new))
    assert not all(assumed(broken, instance) for draft in DRAFTS for instance in instances(draft))
