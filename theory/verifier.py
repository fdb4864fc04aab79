"""What a verifier is, and what it declares about itself.

Draft, Node, Path, Oracle and Rows are exported here too: the types that a verifier's file is written with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from draftproof.theory.draft import Draft, Node, Path
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row
from draftproof.theory.table import Rows

__all__ = ["ALL", "CHAIN", "PATHS", "TREES", "Draft", "Node", "Oracle", "Path", "Rows", "Stop", "Verifier"]

Stop: TypeAlias = tuple[Node, Row]
"""Where verification stopped, and the row that the one extra token Y is drawn from."""

CHAIN = ("chain",)
TREES = ("tree with replacement", "tree without replacement")
PATHS = ("paths",)
ALL = (*CHAIN, *TREES, *PATHS, "top-k", "greedy", "spechub", "stratified")
"""Labels of drafting schemes."""


@dataclass(frozen=True)
class Verifier:
    """A verification algorithm with its declarations.

    `source` is a key of references.bib with the place in the paper; `drafts` the labels of the
    drafting schemes it is made for; `lossless` whether one iteration is declared to follow the
    target exactly; `carry`, for an algorithm with state, gives the target that the next
    iteration must verify against, from (target, proposal, draft, stop node); `ordered`: the rule
    orders tokens, so that lanes cannot run it in step.
    """

    name: str
    source: str
    drafts: tuple[str, ...]
    lossless: bool
    verify: Callable[[Oracle, Draft, Rows], Stop]
    carry: Callable[[Rows, Rows, Draft, Node], Rows] | None = None
    ordered: bool = False
