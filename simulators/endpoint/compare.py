"""The run on two servers: first the tested one beside itself, then both, by bets on which one wrote which.

Requests come in the order A B B A. If both servers follow one law, a pair of answers is as probable in
either order, whatever that law is and however the choices of one request depend on each other; so no bet on
the order gains (podkopaev2023sequential).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from math import log
from typing import TypeAlias

import numpy as np

from draftproof.simulators.endpoint import checks
from draftproof.simulators.endpoint.betting import PSEUDO_COUNTS, Mixture
from draftproof.simulators.endpoint.client import Client
from draftproof.simulators.endpoint.laws import Setting
from draftproof.simulators.endpoint.report import VERDICTS, Result
from draftproof.simulators.endpoint.run import OF_SETTING, PROMPTED, Plan, Progress, Session
from draftproof.simulators.endpoint.server import Sample, Server
from draftproof.simulators.support.anytime import detectable

SELF, OTHER = "A/A", "law"
ITSELF = 1 / 5
"""Share of the tokens that the tested server spends on itself."""

CHECKED = 3 / 4
"""Share of the tokens after which the checks must be done."""

FEW, MANY = 2, 4
"""Choices of a request, with a setting and otherwise: a pair of answers gains at most log 2, however long."""


Cell: TypeAlias = tuple[str, Hashable]
"""A sorting, and what it makes of a token or of a text."""

SORTINGS: dict[str, Callable[[int, Sample], Iterable[Hashable]]] = {
    "first": lambda prompt, sample: [(prompt, each) for each in sample.tokens[:1]],
    "token": lambda prompt, sample: sample.tokens,
    "place": lambda prompt, sample: [(prompt, *each) for each in enumerate(sample.tokens)],
    "text": lambda prompt, sample: [(prompt, sample.tokens)],
    "length": lambda prompt, sample: [(prompt, len(sample.tokens), sample.finish)],
}


class Pairs(Mixture):
    """Bets on the order of pairs of answers to one prompt.

    Every sorting of tokens into cells, with each of `PSEUDO_COUNTS`, scores an answer by how often its cells
    were hit by either side before; the score is the log-odds that the answer is the first side's.
    """

    def __init__(self, error: float):
        super().__init__(error, SORTINGS)
        self.counts: tuple[Counter[Cell], Counter[Cell]] = Counter(), Counter()
        self.texts = 0

    def update(self, prompt: int, one: Sequence[Sample], other: Sequence[Sample]) -> None:
        """Adds an answer of each side; both have equally many choices."""
        for name, sort in SORTINGS.items():
            cells = [[(name, cell) for each in side for cell in sort(prompt, each)] for side in (one, other)]
            first, second = map(self._score, cells)
            self.experts[name] += log(2) - np.logaddexp(0, -np.clip(first - second, -30, 30))
            for counts, side in zip(self.counts, cells, strict=True):
                counts.update(side)
        self.texts += len(one)
        self.mix()

    def _score(self, cells: Sequence[Cell]) -> np.ndarray:
        """[len(PSEUDO_COUNTS)]: the log-odds of the cells of one answer."""
        if not cells:
            return np.zeros(len(PSEUDO_COUNTS))
        hits = np.array([[counts[cell] for cell in cells] for counts in self.counts], dtype=float)
        shares = np.log(PSEUDO_COUNTS[:, None, None] / 8 + hits)
        return (shares[:, 0] - shares[:, 1]).sum(1)

    @property
    def detectable(self) -> float:
        """About the total variation of the law of a first token that would have shown: its commonest values
        are compared, and both sides are noisy.
        """
        both = self.counts[0] + self.counts[1]
        values = sum(n >= 8 for cell, n in both.items() if cell[0] == "first")
        kinds = len(SORTINGS) * len(PSEUDO_COUNTS)
        return min(1.0, 2 * detectable(max(2, values), self.texts, self.error / kinds))


class Comparison(Session):
    """A run on a tested server and on one that it should sample as. Nothing is known of the law itself."""

    def __init__(self, clients: tuple[Client, Client], plan: Plan, progress: Progress):
        super().__init__(clients, plan, progress)
        names = [SELF, OTHER, *(checks.SETTINGS if plan.settings else ())]
        shares = {name: 1 / 2 if name == OTHER else 1 / 2 / (len(names) - 1) for name in names}
        self.pairs = {name: Pairs(plan.error * share) for name, share in shares.items()}
        self.main = self.pairs[OTHER]
        self.same = False  # whether both spell tokens in the same way

    def judge(self) -> None:
        (one, other), plan = self.servers, self.plan
        self.same = bool(one.listed and other.listed and one.extensions == other.extensions)
        self._draw(self.pairs[SELF], one, one, plan.setting, int(plan.tokens * ITSELF), MANY)
        if self.pairs[SELF].rejected:
            return

        def compared(name: str, setting: Setting) -> Result:
            self._draw(self.pairs[name], one, other, setting, int(2 * OF_SETTING * plan.tokens), FEW)
            return self._result(name)

        if plan.settings:
            for name, setting in checks.SETTINGS.items():
                self.checked.append(checks.checked(name, compared, name, setting))
            self.budget.tokens = int(plan.tokens * CHECKED)
            for name, check in checks.CHECKS.items():
                self.checked.append(checks.checked(name, check, one, plan.prompts[:PROMPTED]))
            self.budget.tokens = plan.tokens
        self._draw(self.pairs[OTHER], one, other, plan.setting, plan.tokens - self.budget.asked, MANY)

    def results(self) -> list[Result]:
        judged = [self._result(name) for name in (SELF, OTHER) if self.pairs[name].texts]
        return [*judged, *self.checked]

    def _draw(
        self, test: Pairs, one: Server, other: Server, setting: Setting, tokens: int, choices: int
    ) -> None:
        """Draws pairs of answers in the order A B B A, as many tokens, or until the test rejects."""
        plan, end, number = self.plan, self.budget.asked + tokens, 0
        count = min(plan.choices, choices)

        def pair(number: int) -> tuple[list[Sample], list[Sample]]:
            order = (one, other) if number % 4 in (0, 3) else (other, one)
            prompt = plan.prompts[number % len(plan.prompts)]
            first, second = (side.ask(prompt, setting, count=count, length=plan.length) for side in order)
            return (first, second) if order[0] is one else (second, first)

        cost = 2 * count * plan.length
        while self.budget.asked + cost <= end and not test.rejected:
            pairs = min(one.client.concurrency, (end - self.budget.asked) // cost)
            numbers = range(number, number + pairs)
            number = numbers.stop
            for n, sides in zip(numbers, one.client.map(pair, numbers), strict=True):
                many = min(map(len, sides))
                if not self.same:
                    sides = [each.in_pieces() for each in sides[0]], [each.in_pieces() for each in sides[1]]
                test.update(n % len(plan.prompts), sides[0][:many], sides[1][:many])
            self.progress(self.budget.asked, plan.tokens, "comparing")

    def _result(self, name: str) -> Result:
        test, said = self.pairs[name], ""
        if not test.texts:
            return Result(name, "not judged", "too few tokens for a pair of answers")
        if test.rejected:
            said = {
                SELF: "the server differs from itself: its law changes, so nothing can be compared with it",
                OTHER: "the two servers follow different laws",
            }.get(name, f"the two servers differ under {name}")
        return Result(name, VERDICTS[test.rejected], said, test.texts, test.error, test.most, test.detectable)
