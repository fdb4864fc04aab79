"""What was found, as text and as one JSON document."""

from dataclasses import asdict, dataclass, field
from math import inf
from typing import Any

VERDICTS = "not rejected", "rejected"
"""The verdict of a test by whether it rejects."""

MARKS = {"rejected": "REJECTED", "not rejected": "nothing found"}


@dataclass(frozen=True)
class Result:
    """One test: `verdict` is "rejected", "not rejected", "not judged" (nothing bears on it) or "skipped"
    (another test or a refusal explains why); `said` is what that means.

    `runs`: tokens, texts or requests that were judged; `error`: the probability of rejecting a right server
    (0: a check without chance). `log_e`: the largest logarithm of the wealth; it rejects at log(1/error).
    `detectable`: the total variation of one token's law, sorted by rank, that would have shown.
    """

    name: str
    verdict: str
    said: str = ""
    runs: int = 0
    error: float = 0.0
    log_e: float | None = None
    detectable: float | None = None
    witness: str | None = None

    def __str__(self) -> str:
        parts = [f"{self.name}: {MARKS.get(self.verdict, self.verdict)}"]
        parts += [self.said] if self.said else []
        parts += [self.witness] if self.witness else []
        parts += [f"{self.runs:,} judged"] if self.runs else []
        if self.log_e is not None and self.verdict == "rejected":
            parts.append(f"log e-value {self.log_e:.1f} at error {self.error:.2g}")
        if self.detectable is not None and self.verdict == "not rejected":
            parts.append(f"a total variation of {self.detectable:.2g} would have shown")
        return "; ".join(parts)


@dataclass
class Report:
    """The answer to `draftproof endpoint`. `stopped`: why it ended early; `detectable`: the total variation
    of the law of a token that would have shown, where `detect` must have; `tokens` that were asked for.
    """

    url: str
    model: str
    error: float
    detect: float
    results: list[Result] = field(default_factory=list)
    detectable: float = 1.0
    tokens: int = 0
    prompt_tokens: int = 0
    requests: int = 0
    retried: int = 0
    seconds: float = 0.0
    stopped: str | None = None

    @property
    def found(self) -> list[str]:
        """The names of the tests that rejected."""
        return [each.name for each in self.results if each.verdict == "rejected"]

    @property
    def status(self) -> int:
        """The exit status: 0 nothing found, 1 rejected, 3 undecided."""
        return 1 if self.found else 3 if self.stopped or self.detectable > self.detect else 0

    @property
    def verdict(self) -> str:
        """The verdict in two words at most."""
        return {0: "nothing found", 1: "rejected", 3: "undecided"}[self.status]

    def __str__(self) -> str:
        seen = f"a total variation of {self.detectable:.2g} would have shown"
        lacking = f"only {seen}, and --detect asks for {self.detect:g}"
        if self.stopped or self.detectable >= 1:
            lacking = self.stopped or "next to nothing was judged"
        heads = {0: f"; {seen}", 1: f": {', '.join(self.found)}", 3: f": {lacking}"}
        spent = (
            f"{self.tokens:,} tokens asked for in {self.requests:,} requests ({self.retried:,} repeated), "
            f"{self.seconds:.1f} s, error {self.error:g}"
        )
        early = [f"ended early: {self.stopped}"] if self.found and self.stopped else []
        head = f"{self.url} ({self.model}): {self.verdict}{heads[self.status]}"
        return "\n  ".join([head, *map(str, self.results), *early, spent])

    def answer(self) -> dict[str, Any]:
        """The JSON document."""
        own = asdict(self)
        tests = [
            {**each, "log_e": "inf" if each["log_e"] == inf else each["log_e"]} for each in own.pop("results")
        ]
        complete = self.stopped is None
        return {"verdict": self.verdict, "found": self.found, **own, "tests": tests, "complete": complete}
