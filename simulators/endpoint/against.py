"""The two-sample test: texts of two servers, or settings, by bets on which one wrote which.

Requests come in the order A B B A. If both servers follow one law, a pair of answers is as probable in
either order, whatever that law is and however the choices of one request depend on each other; so no bet on
the order gains (podkopaev2023sequential).
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from math import exp, log, log1p
from typing import TypeAlias

import numpy as np

from draftproof.simulators.endpoint.betting import PSEUDO_COUNTS, Mixture
from draftproof.simulators.endpoint.server import Sample
from draftproof.simulators.support.anytime import detectable

Cell: TypeAlias = tuple[Hashable, ...]

SORTINGS = "first", "token", "place", "text", "length"


class Pairs(Mixture):
    """Bets on the order of pairs of answers to one prompt.

    Every sorting of tokens into cells, with each of `PSEUDO_COUNTS`, scores an answer by how often its cells
    were hit by either side before; the score is the log-odds that the answer is the first side's.
    """

    def __init__(self, error: float):
        super().__init__(error, SORTINGS)
        self.counts: tuple[Counter[Cell], Counter[Cell]] = Counter(), Counter()
        self.first: Counter[tuple[int, tuple[str, ...]]] = Counter()
        self.texts = 0

    def update(self, prompt: int, one: Sequence[Sample], other: Sequence[Sample]) -> None:
        """Adds an answer of each side; both have equally many choices."""
        cells = [list(_cells(prompt, side)) for side in (one, other)]
        for name in SORTINGS:
            scores = [self._score([cell for kind, cell in side if kind == name]) for side in cells]
            edge = np.clip(scores[0] - scores[1], -30, 30)
            self.experts[name] += np.array([log(2) - log1p(exp(-x)) for x in edge])
        for counts, side in zip(self.counts, cells, strict=True):
            counts.update(cell for _, cell in side)
        self.texts += len(one)
        self.first.update((prompt, each.tokens) for each in one)
        self.mix()

    @property
    def one_text(self) -> bool:
        """Whether the first side gave a single text for each prompt, however often it was asked."""
        prompts = {prompt for prompt, _ in self.first}
        return self.texts >= 8 * len(prompts) and len(self.first) == len(prompts)

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
        values = sum(
            1 for cell, n in (self.counts[0] + self.counts[1]).items() if n >= 8 and cell[0] == "first"
        )
        kinds = len(SORTINGS) * len(PSEUDO_COUNTS)
        return min(1.0, 2 * detectable(max(2, values), self.texts, self.error / kinds))


def _cells(prompt: int, samples: Sequence[Sample]) -> Iterator[tuple[str, Cell]]:
    for sample in samples:
        tokens = sample.tokens
        yield "length", ("length", prompt, len(tokens), sample.finish)
        yield "text", ("text", prompt, tokens)
        yield from (("first", ("first", prompt, each)) for each in tokens[:1])
        for t, token in enumerate(tokens):
            yield "token", ("token", token)
            yield "place", ("place", prompt, t, token)
