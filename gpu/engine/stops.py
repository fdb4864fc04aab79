"""When a text is finished: an end token, a stop string, or as many tokens as it may have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass
class Row:
    """One text in the making: the tokens emitted, and `finished`: "end", "stop", "length" or None."""

    limit: int
    tokens: list[int] = field(default_factory=list)
    finished: str | None = None


class Texts:
    """All texts of a run; `going` are the numbers of those that go on.

    `limits` are the numbers of tokens that they may have; the ids `ends` end them, and the strings `stops` in
    what `decode` makes of the tokens.
    """

    def __init__(
        self,
        limits: Sequence[int],
        ends: frozenset[int],
        stops: Sequence[str],
        decode: Callable[[Sequence[int]], str],
    ) -> None:
        self.rows, self.ends, self.stops, self.decode = [Row(limit) for limit in limits], ends, stops, decode
        self.going = list(range(len(limits)))

    def take(self, words: Sequence[list[int]]) -> tuple[list[list[int]], list[str | None], list[int]]:
        """Adds what a step emitted: what was added to each text, why it ended, or None, and the places of
        those that go on.
        """
        rows = [self.rows[number] for number in self.going]
        added = [self._add(row, word) for row, word in zip(rows, words, strict=True)]
        stay = [place for place, row in enumerate(rows) if row.finished is None]
        self.going = [self.going[place] for place in stay]
        return added, [row.finished for row in rows], stay

    def _add(self, row: Row, new: list[int]) -> list[int]:
        taken = new[: row.limit - len(row.tokens)]
        at = next((i for i, token in enumerate(taken) if token in self.ends), None)
        if at is not None:
            taken, row.finished = taken[: at + 1], "end"
        before = len(row.tokens)
        row.tokens += taken
        if self.stops and self._stopped(row.tokens):
            most = before + 1
            while not self._stopped(row.tokens[:most]):
                most += 1
            del row.tokens[most:]
            row.finished = "stop"
        elif row.finished is None and len(row.tokens) == row.limit:
            row.finished = "length"
        return row.tokens[before:]

    def _stopped(self, tokens: Sequence[int]) -> bool:
        text = self.decode(tokens)
        return any(stop in text for stop in self.stops)
