"""What an audit gathers on its way to a report."""

from dataclasses import dataclass, field

from draftproof.simulators.audit.door import Observer
from draftproof.simulators.audit.judge.case import Case
from draftproof.simulators.audit.judge.extremes import Finding
from draftproof.simulators.audit.judge.statistical import Sampled


@dataclass
class Seen:
    """What an audit saw so far."""

    observer: Observer
    found: dict[str, Finding] = field(default_factory=dict)
    worst: Case | None = None
    failing: Case | None = None
    done: int = 0
    undecided: str = ""
    too_large: str = ""
    sampled: Sampled | None = None

    @property
    def lossless(self) -> bool | None:
        rejected = self.sampled is not None and self.sampled.rejected
        if "hangs" in self.found or self.failing is not None or rejected:
            return False
        return None if self.undecided else True

    def test(self, sampled: Sampled) -> None:
        self.sampled = sampled
        for kind, what in sampled.faults.items():
            self.found.setdefault(kind, Finding(kind, what))
