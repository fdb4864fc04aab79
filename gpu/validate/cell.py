"""What was found of one verifier on one draft."""

from dataclasses import asdict, dataclass, field
from typing import Any

from draftproof.gpu.validate.acceptance import Result
from draftproof.gpu.validate.greedy import Greedy
from draftproof.gpu.validate.joint import Joint

FAINTEST = 0.03
"""A faint specimen whose total variation is nowhere as large need not be noticed."""


@dataclass
class Cell:
    """One verifier on one draft: a specimen must have its law rejected, the others nothing.

    off: of a faint specimen, the total variation of one step at the prompt where it is largest.
    """

    draft: str
    verifier: str
    specimen: str | None = None
    off: float | None = None
    greedy: Greedy | None = None
    laws: list[Joint] = field(default_factory=list)
    acceptance: Result | None = None

    @property
    def rejected(self) -> bool:
        return any(each.rejected for each in self.laws)

    @property
    def runs(self) -> int:
        return sum(each.runs for each in self.laws)

    @property
    def too_faint(self) -> bool:
        """Whether nobody can ask that this be noticed."""
        return self.off is not None and self.off < FAINTEST

    @property
    def problems(self) -> list[str]:
        """What is not as expected, in words."""
        if self.specimen is not None:
            fine = self.rejected or self.too_faint
            return [] if fine else [f"lossy, and not noticed in {self.runs:,} runs"]
        found = [f"the law is rejected at prompt {each.prompt + 1}" for each in self.laws if each.rejected]
        if self.greedy is not None and not self.greedy.ok:
            ties = [each for each in self.greedy.ties if not each.explained]
            found += [
                f"greedy text of prompt {each.prompt + 1} differs at token {each.place}" for each in ties
            ]
        return found + (self.acceptance.problems if self.acceptance else [])

    def answer(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "draft": self.draft,
            "verifier": self.verifier,
            "specimen": self.specimen,
            "off": self.off,
            "greedy": self.greedy.answer() if self.greedy else None,
            "laws": [asdict(each) for each in self.laws],
            "acceptance": self.acceptance.answer() if self.acceptance else None,
            "problems": self.problems,
        }
