"""E[tau] of whole drafted trees, from rows recorded at their nodes.

A tree is named by its shape, or by a number of tokens. `drawn` draws one tree per design, deterministically
in (rows, seed). `record` calls it with rows that a model computes when they are read; `measured` calls it
with the rows of the file.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from draftproof.simulators.study.recorded import Recorded, half_width, spaced
from draftproof.theory.draft import Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts import names as draft_names
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.ddtree import DDTree
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import DEPTH, Shape, every, inner
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput, located, quoted
from draftproof.theory.rows import Prefix
from studies.tree_designs import drafts, values
from studies.tree_designs.drafts import RowsAt

Draw: TypeAlias = Callable[[RowsAt, Shape, int, np.random.Generator], Node]
Value: TypeAlias = Callable[[RowsAt, RowsAt, Node], float]


@dataclass(frozen=True)
class Design:
    """How a tree is drawn and verified. `tree` is "same" where it has the shape that is asked for; others
    have as many tokens. `new` marks what docs/near-optimal.md adds to what was known.
    """

    tree: str
    siblings: str
    verifier: str
    draw: Draw
    value: Value
    new: bool = False


def _fixed(scheme: Callable[[Shape], Scheme], shaped: Callable[[int], Shape] | None = None) -> Draw:
    def draw(q: RowsAt, shape: Shape, nodes: int, rng: np.random.Generator) -> Node:
        return scheme(shaped(nodes) if shaped else shape).draw(drafts.Sampler(rng), q).root  # type: ignore[arg-type]

    return draw


def _grown(scheme: Callable[[int, int], Scheme]) -> Draw:
    def draw(q: RowsAt, shape: Shape, nodes: int, rng: np.random.Generator) -> Node:
        return scheme(nodes, nodes).draw(drafts.Sampler(rng), q).root  # type: ignore[arg-type]

    return draw


def _nodes(rule: values.Rule) -> Value:
    return partial(values.node_by_node, rule=rule)


_IID = partial(Tree, replacement=True)
_STRATA = partial(values.lifted, rule=values.strata_priority)
_OPTIMAL = partial(values.lifted, rule=values.optimal, where_ranked=partial(values.optimal, in_turn=True))
_OPTIMAL_STRATA = partial(values.lifted, rule=partial(values.optimal, stratified=True))
_OPTIMAL_GROWN = partial(values.lifted, rule=partial(values.optimal, stratified=True, in_turn=True))
_TRAVERSAL = partial(values.lifted, rule=values.single, counts=values.in_turn)
_WITHOUT = partial(_TRAVERSAL, distinct=True)

DESIGNS = (
    Design("best-first", "strata", "lifted-priority", _grown(BestFirst), _STRATA, new=True),
    Design("same", "strata", "lifted-priority", _fixed(Stratified), _STRATA, new=True),
    Design(
        "same",
        "i.i.d.",
        "lifted-priority",
        _fixed(_IID),
        partial(values.lifted, rule=values.iid_priority),
        new=True,
    ),
    Design("best-first", "strata", "lifted-optimal", _grown(BestFirst), _OPTIMAL_GROWN, new=True),
    Design("same", "strata", "lifted-optimal", _fixed(Stratified), _OPTIMAL_STRATA, new=True),
    Design("same", "i.i.d.", "lifted-optimal", _fixed(_IID), _OPTIMAL, new=True),
    Design("same", "i.i.d.", "traversal", _fixed(_IID), _TRAVERSAL),
    Design("same", "i.i.d.", "specinfer", _fixed(_IID), _nodes(values.recursive(True))),
    Design("same", "without replacement", "traversal", _fixed(Tree), _WITHOUT),
    Design("same", "without replacement", "rrs", _fixed(Tree), _nodes(values.recursive(False))),
    Design("same", "greedy", "hu-greedy", _fixed(Greedy), _nodes(values.greedy)),
    Design("same", "top-k", "nss", _fixed(TopK), _nodes(values.target_only)),
    Design("uneven", "without replacement", "traversal", _fixed(Tree, drafts.uneven), _WITHOUT),
    # on one path lifted-priority is block
    Design("chain", "one", "block", _fixed(Tree, partial(every, 1)), _STRATA),
    Design("DDTree", "top-k", "nss", _grown(DDTree), _nodes(values.target_only)),
    Design(
        "EAGLE-2",
        "top-k",
        "nss",
        lambda q, shape, nodes, rng: drafts.eagle2(q, nodes),
        _nodes(values.target_only),
    ),
)
"""What is drawn for every tree; those of the same shape only where a shape is named. Differences are to the
first.
"""


def named(tree: str) -> tuple[Shape, int, tuple[Design, ...]]:
    """(shape, number of tokens, designs) of a tree's name: a shape, as after `tree:`, or a whole number.

    >>> shape, nodes, designs = named("32")
    >>> shape, nodes, designs[0].tree
    ((), 32, 'best-first')
    >>> named("2x3")[1], len(named("2x3")[2]) == len(DESIGNS)
    (14, True)
    """
    if tree.isascii() and tree.isdigit():
        if not 1 <= (nodes := int(tree[:9])) <= DEPTH:
            raise BadInput(f"{quoted(tree)}: a tree has 1 to {DEPTH} tokens")
        return (), nodes, tuple(each for each in DESIGNS if each.tree != "same")
    try:
        shape = draft_names.shape(tree)
    except ValueError:
        raise BadInput(f"{quoted(tree)} is no tree; write 2x3, eagle, [[[],[]],[[]]] or 32") from None
    if (nodes := sum(inner(shape))) > DEPTH:  # as many are also drawn as one path
        raise BadInput(f"{quoted(tree)}: a tree has 1 to {DEPTH} tokens")
    return shape, nodes, DESIGNS


def drawn(trees: Sequence[str], q: RowsAt, number: int) -> Iterator[tuple[str, Design, Node]]:
    """One tree of every design, for each name; `number` seeds it. Verifiers of one draft judge one tree."""
    for tree in trees:
        shape, nodes, designs = named(tree)
        made: dict[str, Node] = {}
        for design in designs:
            draft = f"{tree} {design.tree} {design.siblings}"
            if draft not in made:
                rng = np.random.default_rng([number, *draft.encode()])
                made[draft] = design.draw(q, shape, nodes, rng)
            yield tree, design, made[draft]


class Trees(Recorded):
    """Rows at the nodes of trees: `parent` [n] is the number of the parent's row, -1 at a root, `token` [n]
    the token that leads from it, and `trees` names the trees that were drawn there.
    """

    def __init__(self, path: Path):
        super().__init__(path)
        with located(path), np.load(path) as arrays:
            nodes, words = np.full(self.shape[0], -1), np.array([], str)
            given = {name: arrays.get(name, nodes) for name in ("parent", "token")}
            for name, array in given.items():
                if array.shape != nodes.shape or array.dtype.kind not in "iu":
                    raise BadInput(f"{name} must be {len(nodes)} whole numbers")
            if (trees := arrays.get("trees", words)).dtype.kind != "U" or trees.ndim != 1:
                raise BadInput("trees must be words")
        self.parent, self.token, self.trees = given["parent"], given["token"], tuple(trees.tolist())
        root = 0
        for row, (parent, token) in enumerate(zip(self.parent.tolist(), self.token.tolist(), strict=True)):
            root = row if parent < 0 else root
            if parent >= 0 and not root <= parent < row:
                raise BadInput(f"{path}: parent: row {row} must name one of rows {root} to {row - 1}")
            if parent >= 0 and not 0 <= token < self.shape[1]:
                raise BadInput(f"{path}: token: row {row} has {token}, no token of {self.shape[1]}")

    def chosen(self, count: int | None) -> np.ndarray:
        """The numbers of `count` roots, evenly spaced."""
        return spaced(np.flatnonzero(self.parent < 0), count)


def contexts(recorded: Trees, chosen: np.ndarray) -> Iterator[tuple[dict, dict]]:
    """(target, proposal) of each chosen root: rows by prefix below it."""
    prefix: dict[int, Prefix] = {}
    p, q = {}, {}
    for row, both in enumerate(recorded.rows()):
        parent = int(recorded.parent[row])
        if parent < 0:
            if q:
                yield p, q
            prefix, p, q = {}, {}, {}
            keep = row in chosen
        if keep:
            prefix[row] = (*prefix[parent], int(recorded.token[row])) if parent >= 0 else ()
            p[prefix[row]], q[prefix[row]] = both
    if q:
        yield p, q


@dataclass(frozen=True)
class Measured:
    """The mean of E[tau] over texts and the half width of its 95 % interval; `difference` is the mean
    difference to the tree's first design on the same texts, with its own half width.
    """

    tree: str
    design: Design
    mean: float
    half_width: float | None
    difference: float
    difference_half_width: float | None


def measured(
    recorded: Trees, count: int | None = None, progress: Callable[[], object] = lambda: None
) -> list[Measured]:
    """Every design of the file's trees on the texts `chosen`; intervals are clustered by sequence.

    Raises BadInput where a tree needs a row that the file lacks.
    """
    chosen = recorded.chosen(count)
    found, names = [], []
    for root, (p, q) in zip(chosen.tolist(), contexts(recorded, chosen), strict=True):
        number = int((recorded.parent[:root] < 0).sum())
        try:
            each = [
                (tree, design, design.value(p, q, node))
                for tree, design, node in drawn(recorded.trees, q, number)
            ]
        except KeyError as error:
            after = " ".join(map(str, error.args[0])) or "nothing"
            raise BadInput(
                f"{recorded.path}: the tree of row {root} has no row after {after}: record it again"
            ) from None
        names = [(tree, design) for tree, design, _ in each]
        found.append([value for _, _, value in each])
        progress()
    e = np.array(found)
    trees = [tree for tree, _ in names]
    both = e, e - e[:, [trees.index(tree) for tree in trees]]
    numbers = [
        part for x in both for part in (x.mean(axis=0).tolist(), half_width(x, recorded.sequence[chosen]))
    ]
    return [Measured(*name, *each) for name, *each in zip(names, *numbers, strict=True)]
