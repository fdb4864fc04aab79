"""The type of a verifier, with the properties that it declares.

Draft, Node, Path, Oracle and Rows are also exported here: the types that a verifier's file needs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any, TypeAlias

from draftproof.theory.draft import Draft, Node, Path
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row
from draftproof.theory.table import Rows

__all__ = ["ALL", "CHAIN", "PATHS", "TREES", "Draft", "Node", "Oracle", "Path", "Rows", "Stop", "Verifier"]

Stop: TypeAlias = tuple[Node, Row]
"""The node where verification stopped, and the row that the extra token Y is drawn from."""

CHAIN = ("chain",)
TREES = ("tree with replacement", "tree without replacement")
PATHS = ("paths",)
ALL = (*CHAIN, *TREES, *PATHS, "top-k", "greedy", "spechub", "stratified")
"""Labels of drafting schemes."""


@dataclass(frozen=True)
class Verifier:
    """A verification algorithm with its declarations: all that the project knows of it.

    `source`: a key of references.bib and the place in the paper. `drafts`: the labels of the drafting schemes
    it is made for. `lossless`: whether one iteration is declared to follow the target exactly. `carry`: for
    an algorithm with state, a function of (target, proposal, draft, stop node) that gives the target for the
    next iteration. `ordered`: whether the rule orders tokens, so that it cannot run on lanes.
    `rounding`: for a rule that computes in floats, the total variation that rounding alone can cause on an
    instance, over so many iterations.

    What else it has is named as "module:name" within the project, and imported when `resolved`. `batched`: a
    `gpu.verify.verifier.Verifier`; `kernel`: how it enters a child in Triton. `node_by_node`: what happens
    below an accepted child depends on that child's subtree alone.
    """

    name: str
    source: str
    drafts: tuple[str, ...]
    lossless: bool
    verify: Callable[[Oracle, Draft, Rows], Stop]
    carry: Callable[[Rows, Rows, Draft, Node], Rows] | None = None
    ordered: bool = False
    rounding: Callable[[Any, int], Any] | None = None
    node_by_node: bool = False
    batched: str = ""
    kernel: str = ""


def resolved(reference: str) -> Any:
    """What a reference of a `Verifier` names.

    >>> resolved("theory.verifier:CHAIN")
    ('chain',)
    """
    return resolve_name(f"draftproof.{reference}")
