"""Drafting schemes, one file each: how the small model proposes tokens.

A scheme is a frozen dataclass whose fields are those of the instance file, with

* `kind`, its name in the instance file, and `label`, for trees with or without replacement;
* `depth`, the length of its longest path;
* `draw(oracle, proposal, context)`, the sampler program that returns a `Draft`;
* `outcomes(support)`, an upper bound of how many drafts can come out, where every proposal row has
  at most `support` tokens;
* `smaller()`, the next smaller schemes of its kind, for shrinking a counterexample.

`SCHEMES` finds them by listing this folder: a new scheme is one new file.
"""

from collections.abc import Iterator
from typing import ClassVar, Protocol

from draftproof.theory.draft import Draft
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.shared.folder import Folder
from draftproof.theory.table import Rows


class Scheme(Protocol):
    """What every drafting scheme offers."""

    kind: ClassVar[str]

    @property
    def label(self) -> str: ...
    @property
    def depth(self) -> int: ...
    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft: ...
    def outcomes(self, support: int) -> int: ...
    def smaller(self) -> "Iterator[Scheme]": ...


SCHEMES = Folder[type[Scheme]](__name__, __path__, "SCHEME", "drafting scheme", besides=("names", "shape"))
"""Instance-file kind -> scheme, imported when it is first asked for."""
