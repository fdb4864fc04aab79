"""An instance: one target, one proposal, one drafting scheme."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.names import scheme
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.rows import supported
from draftproof.theory.table import Table

OUTCOMES = 10**8
"""Largest number of drafts for an exact enumeration."""


@dataclass(frozen=True)
class Instance:
    """The input of a verifier: target, proposal and scheme, which may be one word such as chain:2. Raises
    BadInput if they do not fit together.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> toy = Instance(Table.exact(2, {(): ["1/3", "2/3"]}), Table.exact(2, {(): ["2/3", "1/3"]}), Chain(2))
    >>> toy.vocab
    2
    """

    target: Table
    proposal: Table
    draft: Scheme
    name: str = field(default="", compare=False)

    if TYPE_CHECKING:

        def __init__(self, target: Table, proposal: Table, draft: Scheme | str, name: str = "") -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.draft, str):
            object.__setattr__(self, "draft", scheme(self.draft))
        for which, table in (("target", self.target), ("proposal", self.proposal)):
            if not isinstance(table, Table):
                raise BadInput(f"{which} must be a Table, not {quoted(table)}")
        if not hasattr(self.draft, "outcomes"):
            raise BadInput(f"draft must be a scheme or a word such as chain:2, not {quoted(self.draft)}")
        if self.target.vocab != self.proposal.vocab:
            raise BadInput(f"target has vocab {self.target.vocab}, proposal {self.proposal.vocab}")
        support = max(supported(row) for _, row in self.proposal.given())
        if self.draft.outcomes(support) > OUTCOMES:
            raise BadInput(f"draft has more than {OUTCOMES:,} outcomes, too many to enumerate")

    @property
    def vocab(self) -> int:
        return self.target.vocab

    def floats(self) -> "Instance":
        """The same instance in float64 numbers."""
        return Instance(self.target.floats(), self.proposal.floats(), self.draft, self.name)


def context_free(p: Mapping[int, object] | list, q: Mapping[int, object] | list, draft: Scheme) -> Instance:
    """An instance whose rows are the same after every prefix."""
    return Instance(Table.exact(len(p), {(): p}), Table.exact(len(q), {(): q}), draft)
