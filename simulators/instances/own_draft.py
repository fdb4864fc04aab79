"""A drafting scheme of the user's own, by `file.py:name` or `package.module:name`."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from inspect import isclass
from typing import Any, ClassVar

from draftproof.simulators.laws.enumerate import CRASHES
from draftproof.simulators.support.load import load, remembered, version
from draftproof.theory.draft import Draft
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.names import SPELLED
from draftproof.theory.errors import BadInput
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

PARTS = ("label", "depth", "draw", "outcomes")


@dataclass(frozen=True)
class OwnDraft:
    """The scheme of a spelling, which other processes load again. `version` is a hash of its files, `made` is
    the user's own object, an instance if it is a class.
    """

    spelling: str
    version: str = field(repr=False)
    made: Any = field(repr=False, compare=False)
    label: str = field(repr=False, compare=False)
    depth: int = field(repr=False, compare=False)
    kind: ClassVar[str] = "own"

    def __reduce__(self) -> tuple:
        return own_draft, (self.spelling,)

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        try:
            drawn = self.made.draw(oracle, proposal, context)
        except (TypeError, *CRASHES) as error:
            raise BadInput(f"{self.spelling}: draw raises {type(error).__name__}: {error}") from error
        if not isinstance(drawn, Draft):
            raise BadInput(f"{self.spelling}: draw returns a {type(drawn).__name__}, not a Draft")
        return drawn

    def outcomes(self, support: int) -> int:
        return self.made.outcomes(support)

    def smaller(self) -> Iterator[Scheme]:
        return iter(())


def own_draft(spelling: str) -> OwnDraft | None:
    """The user's scheme of that spelling; None if the spelling is one of the project's. Raises BadInput if
    nothing of that name is a scheme.
    """
    place, _, name = spelling.rpartition(":")
    if not place or place in SPELLED or not name.replace(".", "_").isidentifier():
        return None
    return _made(spelling)


@remembered
def _made(spelling: str) -> OwnDraft:
    found = load(spelling)
    made: Any = found() if isclass(found) else found
    missing = [part for part in PARTS if not hasattr(made, part)]
    if missing:
        raise BadInput(f"{spelling}: is no drafting scheme: it has no {', '.join(missing)}")
    return OwnDraft(spelling, version(spelling), made, made.label, made.depth)
