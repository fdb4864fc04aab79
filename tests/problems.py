"""Problems that many tests share: the toy, one small scheme of each label, the vectors."""

import json
from pathlib import Path

from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.table import Table

TOY = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
"""Two symbols, context-free, p and q mirror images: E[tau] is 10/9, 11/9 or 12/9 by the rule."""

LOPSIDED = (((), ()), ())
"""The root has two children, the first of them two more."""

SCHEMES = {
    "chain": Chain(2),
    "tree with replacement": Tree(LOPSIDED, True),
    "tree without replacement": Tree(LOPSIDED, False),
    "paths": Paths(2, 2),
    "top-k": TopK(LOPSIDED),
    "greedy": Greedy(LOPSIDED),
    "spechub": SpecHub(2),
    "stratified": Stratified(LOPSIDED),
}
"""One scheme of each label, small enough to enumerate with every verifier."""

VECTORS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "vectors").glob("*.json"))
}
"""Published laws: an instance, what each verifier must give on it, and for most the optimal values."""

OPTIMA = {name: vector for name, vector in VECTORS.items() if "optimum" in vector}
"""Those with optimal values."""


def written(
    vocab: str = "2",
    target: str = '{"": ["1/2", "1/2"]}',
    proposal: str = '{"": ["1/2", "1/2"]}',
    draft: str = '{"kind": "chain", "depth": 1}',
) -> str:
    """The text of an instance file, any part of it replaced."""
    return f'{{"vocab": {vocab}, "target": {target}, "proposal": {proposal}, "draft": {draft}}}'


def tree(shape: str, replacement: str = "false") -> str:
    """The text of a tree's draft object."""
    return f'{{"kind": "tree", "shape": {shape}, "replacement": {replacement}}}'


def in_floats(table):
    """The same table in float64 numbers."""
    return Table(table.vocab, {prefix: tuple(map(float, row)) for prefix, row in table.given()})


def floats(instance):
    """The same instance in float64 numbers."""
    return Instance(in_floats(instance.target), in_floats(instance.proposal), instance.draft, instance.name)
