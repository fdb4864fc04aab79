"""An instance: one target, one proposal, one drafting scheme."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flint import fmpq

from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.names import scheme
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.numbers import text
from draftproof.theory.rows import supported
from draftproof.theory.shared.reportable import Reportable, spelled
from draftproof.theory.table import Table

OUTCOMES = 10**8
"""Largest number of drafts for an exact enumeration."""


@dataclass(frozen=True, repr=False)
class Instance(Reportable):
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

    def __str__(self) -> str:
        return f"{self.name or 'without a name'}: V = {self.vocab}, {self.draft}"

    def to_dict(self) -> dict[str, Any]:
        """The document of an instance file."""
        tables = {"target": self.target, "proposal": self.proposal}
        steps = [
            {"kind": each.kind, "on": on}
            | {f.name: _written(x) for f in fields(each) if (x := getattr(each, f.name)) != f.default}
            for on, table in tables.items()
            for each in getattr(table, "processors", ())
        ]
        rows = {
            on: {spelled(prefix): [*map(text, row)] for prefix, row in table.given()}  # type: ignore[arg-type]
            for on, table in tables.items()
        }
        draft = draft_document(self.draft)
        return {"vocab": self.vocab, **rows, "draft": draft, **({"processors": steps} if steps else {})}

    def rows(self) -> list[dict[str, Any]]:
        """A row for each row of both models; the columns are the tokens."""
        given = self.to_dict()
        return [
            {"model": on, "prefix": prefix, **{str(token): mass for token, mass in enumerate(row)}}
            for on in ("target", "proposal")
            for prefix, row in given[on].items()
        ]

    def write(self, path: Path | str) -> None:
        """Writes an instance file, which every command reads. BadInput if it cannot be written."""
        try:
            Path(path).write_text(json.dumps(self.to_dict()) + "\n", encoding="utf-8")
        except (OSError, TypeError, ValueError) as error:
            raise BadInput(f"{quoted(path)}: cannot be written ({type(error).__name__})") from None


def draft_document(draft: Scheme) -> dict[str, Any] | str:
    """The `draft` of an instance file: an object, or the spelling of a scheme of the user's own."""
    if spelling := getattr(draft, "spelling", None):
        return spelling
    return {"kind": draft.kind, **{f.name: getattr(draft, f.name) for f in fields(draft) if f.compare}}  # type: ignore[arg-type]


def _written(value: Any) -> Any:
    if isinstance(value, fmpq):
        return text(value)
    return {key: _written(each) for key, each in value.items()} if isinstance(value, dict) else value


def context_free(p: Mapping[int, object] | list, q: Mapping[int, object] | list, draft: Scheme) -> Instance:
    """An instance whose rows are the same after every prefix."""
    return Instance(Table.exact(len(p), {(): p}), Table.exact(len(q), {(): q}), draft)
