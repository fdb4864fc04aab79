"""What cannot be enumerated: an anytime-valid test on the joint law of several tokens."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from time import monotonic

from simulators.anytime import ERROR, Evidence, against
from theory.law import Law
from theory.rows import Prefix

RUNS = 20_000
"""Default number of runs."""


@dataclass(frozen=True)
class Sampled:
    """The evidence after some runs, and the total variation that so many runs would have shown."""

    evidence: Evidence
    runs: int
    detectable: float

    def __str__(self) -> str:
        said = "rejected" if self.evidence.rejected else "not rejected"
        return (
            f"{said} after {self.runs:,} runs at error level {self.evidence.error:g} "
            f"(log e-value {self.evidence.log_e:.1f}); "
            f"a total variation of {self.detectable:.2g} would have shown"
        )


def detectable(words: int, runs: int, error: float = ERROR) -> float:
    """The total variation above which rejection is expected after so many runs on so many words.

    The log e-value of a law at relative entropy D grows as n D - (words - 1)/2 log n, and D is at
    least 2 TV^2 (Pinsker); rejection is at -log error.

    >>> round(detectable(27, 20_000), 3)
    0.06
    """
    return sqrt((-log(error) + (words - 1) / 2 * log(max(runs, 2))) / (2 * runs))


def sampled_against(
    draw: Callable[[], Prefix], law: Law, runs: int = RUNS, error: float = ERROR, seconds: float = 60.0
) -> Sampled:
    """Runs `draw` and tests what it gives against the exact law, looking after every doubling.

    >>> import numpy as np
    >>> from flint import fmpq
    >>> coin = Law({(0,): fmpq(1, 2), (1,): fmpq(1, 2)})
    >>> rng = np.random.default_rng(0)
    >>> sampled_against(lambda: (int(rng.random() < 0.7),), coin, 2000).evidence.rejected
    True
    """
    counts: Counter[Prefix] = Counter()
    look, deadline = 64, monotonic() + seconds
    evidence = Evidence(0.0, error)
    for n in range(1, runs + 1):
        counts[draw()] += 1
        if n in (look, runs) or monotonic() > deadline:
            look = 2 * n
            evidence = against(law, counts, error)
            if evidence.rejected or monotonic() > deadline:
                break
    return Sampled(evidence, n, detectable(len(law), n, error))
