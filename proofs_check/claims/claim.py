"""What a registered claim is."""

from collections.abc import Callable
from dataclasses import dataclass

EVERY = "proved for every vocabulary and depth"
SIZES = "proved for the sizes listed"
REFUTED = "refuted"
UNDECIDED = "undecided"
THEOREM = "proved in Rocq"


CODE, CELLS, ROCQ, EXACT = "code run", "sign cells", "Rocq", "exact instances"
"""What may stand behind a verdict: the code, run at every size, on symbols at some sizes, or on rational
instances; or a machine proof."""


def unrefuted(instances: int) -> str:
    """The verdict of a search that found no counterexample."""
    return f"no counterexample in {instances:,} exact instances"


@dataclass(frozen=True)
class Claim:
    """A statement in our words, its source, the sizes it was decided for, and how to decide it again.

    `check` returns the verdict found now and takes about `seconds` of CPU time; `verdict` is the recorded
    one, to which `note` adds, such as a witness. `rocq`: its theorem in proofs_check/rocq.
    """

    key: str
    statement: str
    source: str
    scope: str
    check: Callable[[], str]
    verdict: str = SIZES
    seconds: float = 1
    note: str = ""
    rocq: str = ""

    @property
    def behind(self) -> tuple[str, ...]:
        """What stands behind the verdict."""
        behind = getattr(self.check, "behind", EXACT)
        checked = behind if isinstance(behind, tuple) else (behind,)
        return (*checked, ROCQ) if self.rocq and ROCQ not in checked else checked

    @property
    def command(self) -> str:
        return f"draftproof claims {self.key}"
