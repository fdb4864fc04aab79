"""What a selection rule can read of a batch, and the type of a rule with its declarations.

A rule is a program: it keeps one drafted token after another, and a token is revealed when it is kept. A
rule that decides by what was revealed is *predictable*: whether a token is verified does not depend on its
value, nor on tokens that come after it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from draftproof.theory.rows import Number, Prefix, meet, one, total
from draftproof.theory.table import Rows


class Unpredictable(Exception):
    """A rule that is declared predictable read a drafted token before it was revealed."""


@dataclass(frozen=True)
class Rule:
    """A selection rule with its declarations.

    `source`: a key of references.bib and the place in the paper. `reads`: what the decision about a token
    depends on. `predictable`: whether these are revealed before the decision; the view enforces it. `ahead`:
    the first dropped token of each request is judged too, with the row that the extra token needs anyway, so
    that it is revealed from the start; if it is accepted it is the extra token.
    """

    name: str
    source: str
    reads: str
    predictable: bool
    select: "Callable[[View], None]"
    ahead: bool = False


class View:
    """The drafts of a batch as one rule sees them: all rows, and the tokens that were revealed.

    `models`: the target and the proposal of each request. `capacity`: the largest number of tokens that are
    kept. `speed[B]`: calls per second when B drafted tokens are verified, for rules that maximise throughput.
    """

    def __init__(
        self,
        models: Sequence[tuple[Rows, Rows]],
        drafts: Sequence[Prefix],
        capacity: int,
        speed: Sequence[Number] = (),
        rule: Rule | None = None,
    ):
        self.models, self.capacity, self.speed = models, capacity, speed
        self.lengths = [0] * len(drafts)
        self._drafts = drafts
        self._guarded = rule is None or rule.predictable
        self._ahead = rule is not None and rule.ahead

    @property
    def kept(self) -> int:
        """The number of tokens kept so far."""
        return sum(self.lengths)

    def open(self) -> list[int]:
        """The requests of which another token can be kept."""
        if self.kept >= self.capacity:
            return []
        return [r for r, draft in enumerate(self._drafts) if self.lengths[r] < len(draft)]

    def drafted(self, r: int) -> int:
        """The number of tokens drafted for request r."""
        return len(self._drafts[r])

    def token(self, r: int, j: int) -> int:
        """The j-th drafted token of request r, j from 0. Raises Unpredictable if it is not revealed and the
        rule is declared predictable.
        """
        if self._guarded and not 0 <= j < self.lengths[r] + self._ahead:
            raise Unpredictable(f"drafted token {j + 1} of request {r + 1} is read before it is revealed")
        return self._drafts[r][j]

    def prefix(self, r: int, length: int) -> Prefix:
        """The first `length` drafted tokens of request r."""
        return tuple([self.token(r, j) for j in range(length)])

    def probability(self, r: int, j: int) -> Number:
        """The proposal's probability of the j-th drafted token of request r."""
        return self.models[r][1][self.prefix(r, j)][self.token(r, j)]

    def confidence(self, r: int, prefix: Prefix) -> Number:
        """1 - TV(p, q) after a prefix: the probability that the token drafted there is accepted."""
        target, proposal = self.models[r]
        return total(meet(target[prefix], proposal[prefix]))

    def allowed(self, r: int, j: int) -> bool:
        """Whether the j-th drafted token of request r has p(x) > 0."""
        return bool(self.models[r][0][self.prefix(r, j)][self.token(r, j)] > 0)

    def one(self) -> Number:
        """The number 1 of the kind that fills the rows."""
        return one(self.models[0][1][()])

    def keep(self, r: int) -> None:
        """Keeps the next drafted token of request r, which reveals it."""
        assert r in self.open(), "nothing is left to keep"
        self.lengths[r] += 1


def in_turn(view: View, goes_on: Callable[[int], bool]) -> None:
    """Keeps one token of each request in turn, as long as goes_on(r) holds before it."""
    stopped: set[int] = set()
    while ready := [r for r in view.open() if r not in stopped]:
        for r in ready:
            if r not in view.open() or not goes_on(r):
                stopped.add(r)
            else:
                view.keep(r)


def best_first(view: View, score: Callable[[int], Number], goes_on: Callable[[Number], bool]) -> None:
    """Keeps the token with the largest score(r), the first request at a tie, as long as goes_on(score).

    A score is asked for again only when a token of its request was kept: it depends on no other request.
    """
    scores: dict[int, Number] = {}
    while ready := view.open():
        scores |= {r: score(r) for r in ready if r not in scores}
        best = max(ready, key=scores.__getitem__)  # type: ignore[arg-type]
        if not goes_on(scores.pop(best)):
            return
        view.keep(best)
