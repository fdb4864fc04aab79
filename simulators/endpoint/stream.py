"""The one-sample tests: texts of a server beside the law that its rows of log-probabilities give them."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, log
from typing import Any

import numpy as np

from draftproof.simulators.endpoint.betting import BATCH, LAW, PSEUDO_COUNTS, RANKS, Bets, Context
from draftproof.simulators.endpoint.laws import NOTHING, Law, Setting
from draftproof.simulators.endpoint.report import VERDICTS, Result
from draftproof.simulators.endpoint.server import Sample
from draftproof.simulators.support.anytime import Wealth, detectable

SURE = 0.99
"""The probability with which the bet on greedy decoding predicts the likeliest token."""

LAWS = "law", "one by one"
"""The tests of the law: in requests for several texts and side by side, and in requests for one at a time.
A fault may have opposite signs in the two (vllm#55005).
"""

NAMES = ("greedy", "repeats", "copies", "batch", *LAWS)

SAID = {
    "greedy": "the likeliest token comes out too often: decoding is silently greedy, or nearly so",
    "repeats": "a request without a seed repeats the texts of the one before it: the random stream repeats",
    "copies": "choices of one request repeat each other: they share a random stream",
    "batch": "choices of one request, decoded as one batch, depend on each other",
    "law": "tokens do not follow the target's law",
    "one by one": "tokens of requests that are decoded one at a time do not follow the target's law",
}
"""Test -> what its rejection means."""

EXPLAINS = {
    "greedy": ("repeats", "copies", "batch", *LAWS),
    "repeats": ("copies", "batch", *LAWS),
    "copies": ("batch", "law"),
    "law": ("batch",),
}
"""Test -> those whose rejection follows from its own: a wrong law also shows in tokens beside each other."""


class Stream:
    """Tests of all texts that are drawn with one setting.

    `read(row, setting, before)` is the law that a row means. `greedy`, `repeats`, `copies` and `batch` bet on
    faults that have a name, those of `LAWS` on any other. Requests must be added in the order in which they
    were sent: an order that depends on how texts ended would bias what is seen.
    """

    def __init__(self, setting: Setting, read: Callable[..., Law], errors: Mapping[str, float]):
        self.setting, self.read = setting, read
        self.laws = {name: Bets(errors[name], LAW) for name in LAWS}
        self.batch = Bets(errors["batch"], BATCH)
        self.tests: dict[str, Wealth] = {name: Wealth(errors[name]) for name in NAMES}
        self.tests |= {"batch": self.batch, **self.laws}
        self.last: dict[tuple[int, int, int], tuple[str, ...]] = {}

    def add(self, prompt: int, samples: Sequence[Sample], length: int = 0, alone: bool = False) -> None:
        """Adds the choices of one request for texts of this length after the prompt of this number. `alone`:
        no other request was decoded beside it.
        """
        beside: tuple[int, ...] = ()
        first: tuple[str, ...] | None = None
        own = self.laws[LAWS[alone]]
        for number, sample in enumerate(samples):
            rows = enumerate(sample.rows or ())
            laws = [self.read(row, self.setting, sample.tokens[:t]) if row else NOTHING for t, row in rows]
            log_p, ranks = self._tokens(prompt, sample, laws, beside, own)
            key = prompt, length, -1 if alone else number
            self._copy("repeats", self.last.get(key), sample.tokens, log_p)
            self._copy("copies", first, sample.tokens, log_p)
            self.last[key] = sample.tokens
            first, beside = first or sample.tokens, ranks

    @property
    def rejected(self) -> bool:
        return any(test.rejected for test in self.tests.values())

    @property
    def detectable(self) -> float:
        """The total variation of a token's law, its outcomes sorted by rank, that would have shown."""
        return min(map(_detectable, self.laws.values()))

    def results(self) -> list[Result]:
        """What the tests say, those with a named fault first."""
        causes = [name for name in NAMES if self.tests[name].rejected]
        explained = {each: name for name in reversed(causes) for each in EXPLAINS.get(name, ())}
        return [
            Result(name, "skipped", f"{explained[name]} explains what it sees", self.tests[name].runs)
            if name in explained
            else self._result(name)
            for name in NAMES
        ]

    def _tokens(
        self, prompt: int, sample: Sample, laws: Sequence[Law], beside: tuple[int, ...], own: Bets
    ) -> tuple[float | None, tuple[int, ...]]:
        """Bets on each token, on its law in `own`; returns the log-probability of the whole text (None if the
        law does not say) and the ranks of its tokens.
        """
        ranks: list[int] = []
        total: float | None = 0.0
        for t, (token, each) in enumerate(zip(sample.tokens, laws, strict=False)):
            place, near = each.place(token), beside[t] if t < len(beside) else -1
            context = Context(prompt, sample.tokens[:t], tuple(ranks), near)
            if place is not None:
                own.update(context, each, place)
            if place is None or place < 0:
                ranks.append(RANKS)
                total = None
                continue
            if near >= 0:
                self.batch.update(context, each, place)
            top = float(each.masses[0])
            if len(each.masses) > 1 and top < 1:
                self.tests["greedy"].bet(log(1 - SURE + SURE / top) if place == 0 else log(1 - SURE))
            total = None if total is None else total + log(each.masses[place])
            ranks.append(min(place, RANKS))
        return total, tuple(ranks)

    def _copy(
        self, name: str, one: tuple[str, ...] | None, other: tuple[str, ...], log_p: float | None
    ) -> None:
        """Bets half of the wealth that a text is a copy. Its probability is at most that of its cells."""
        if one is None or log_p is None or not other:
            return
        self.tests[name].bet((float(np.logaddexp(0, -log_p)) if one == other else 0) - log(2))

    def _result(self, name: str) -> Result:
        test, witness, seen = self.tests[name], None, None
        own = self.laws.get(name)
        if own is not None:
            seen = _detectable(own)
            cells: Any = own.cells["rank"]  # (position, rank) -> times hit, times expected
            if own.rejected and own.most == inf:
                witness = "a token came out that the filter forbids"
            elif own.rejected:
                at, rank = max(cells, key=lambda cell: cells[cell][0] - cells[cell][1])
                hits, expected = cells[at, rank]
                which = f"rank {rank + 1}" if rank < RANKS else f"rank {RANKS + 1} or later"
                runs = sum(hit for (t, _), (hit, _) in cells.items() if t == at)
                witness = (
                    f"tokens of {which} came out {hits:,.0f} times at position {at + 1}, and should "
                    f"{expected:,.0f} times of {runs:,.0f}"
                )
        if not test.runs:
            return Result(name, "not judged", "no text bears on it")
        said = SAID[name] if test.rejected else ""
        return Result(name, VERDICTS[test.rejected], said, test.runs, test.error, test.most, seen, witness)


def _detectable(own: Bets) -> float:
    return detectable(RANKS + 1, own.runs, own.error / (len(LAW) * len(PSEUDO_COUNTS)))
