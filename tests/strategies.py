"""Hypothesis strategies: exact rows, tables, shapes, drafting schemes and whole instances."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from draftproof.simulators.support.make import prefixes, weighted
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import Shape
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Row
from draftproof.theory.table import Table

WEIGHTS = (1, 0, 0, 1, 2, 3, 5, 8)
"""Whole-number weights of tokens: small, so that zeros, ties and one-hot rows are common."""


def rows(vocab: int, zeros: bool = True) -> SearchStrategy[Row]:
    """Exact next-token rows, with or without tokens of probability zero.

    >>> from hypothesis import find
    >>> find(rows(2), lambda row: row[0] == row[1])
    (1/2, 1/2)
    """
    usable = [weight for weight in WEIGHTS if zeros or weight]

    def weights(code: int) -> list[int]:  # one number per row, since drawing takes most of a test's time
        digits = (code // len(usable) ** x % len(usable) for x in range(vocab))
        return [usable[digit] for digit in digits]

    return st.integers(0, len(usable) ** vocab - 1).map(weights).filter(any).map(weighted)


def tables(vocab: int, depth: int, zeros: bool = True) -> SearchStrategy[Table]:
    """Exact tables with a separate row for every prefix of length 0 .. depth."""
    where = list(prefixes(vocab, depth))
    each = st.tuples(*[rows(vocab, zeros)] * len(where))
    return each.map(lambda given: Table.exact(vocab, dict(zip(where, given, strict=True))))


@st.composite
def shapes(draw: st.DrawFn, nodes: int = 4, depth: int = 3) -> Shape:
    """Shapes of trees with 1 .. `nodes` drafted tokens and depth at most `depth`."""
    above, children = [0], [[]]  # each node's depth and children; the root first
    for new in range(1, draw(st.integers(1, nodes)) + 1):
        parent = draw(st.sampled_from([node for node, level in enumerate(above) if level < depth]))
        children[parent].append(new)
        above.append(above[parent] + 1)
        children.append([])

    def below(node: int) -> Shape:
        return tuple(map(below, children[node]))

    return below(0)


def schemes(label: str, nodes: int = 4, depth: int = 2) -> SearchStrategy[Scheme]:
    """Drafting schemes of one label (`draftproof.theory.verifier.ALL`), of depth at most `depth`.

    Trees have at most `nodes` drafted tokens, and so have K paths together. Raises BadInput for an unknown
    label.

    >>> from hypothesis import find
    >>> find(schemes("tree with replacement"), lambda scheme: scheme.depth == 2)
    Tree(shape=(((),),), replacement=True)
    """
    lengths, trees = st.integers(1, depth), shapes(nodes, depth)
    made: dict[str, SearchStrategy[Scheme]] = {
        "chain": lengths.map(Chain),
        "tree with replacement": trees.map(lambda shape: Tree(shape, True)),
        "tree without replacement": trees.map(Tree),
        "paths": _paths(nodes, depth),
        "top-k": trees.map(TopK),
        "greedy": trees.map(Greedy),
        "spechub": lengths.map(SpecHub),
        "stratified": trees.map(Stratified),
    }
    if label not in made:
        raise BadInput(f"no drafting scheme is labelled {label!r}; there are {', '.join(made)}")
    return made[label]


@st.composite
def instances(draw: st.DrawFn, draft: str | Scheme, vocab: int | None = None, zeros: bool = True) -> Instance:
    """Instances on one scheme, or on schemes of one label, over `vocab` tokens (2 or 3 when None).

    Every prefix has a separate row, and some proposal rows equal the target's.

    >>> from hypothesis import find
    >>> find(instances("paths", vocab=2), lambda instance: instance.draft.count == 2).draft
    Paths(count=2, depth=1)
    """
    scheme = draw(schemes(draft)) if isinstance(draft, str) else draft
    size = draw(st.integers(2, 3)) if vocab is None else vocab
    target = draw(tables(size, scheme.depth, zeros))
    own = rows(size, zeros)
    proposal = {
        prefix: draw(st.one_of(own, own, st.just(target[prefix])))
        for prefix in prefixes(size, scheme.depth - 1)
    }
    return Instance(target, Table.exact(size, proposal), scheme)


@st.composite
def _paths(draw: st.DrawFn, nodes: int, depth: int) -> Paths:
    length = draw(st.integers(1, min(depth, nodes)))
    return Paths(draw(st.integers(1, nodes // length)), length)
