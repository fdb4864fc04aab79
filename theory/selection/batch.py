"""A batch: several requests at once, and the rule that selects which of their drafted tokens are verified."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from draftproof.theory.draft import Draft, chained
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Number, Prefix, Row, one, total
from draftproof.theory.selection.view import Rule, View
from draftproof.theory.table import Rows

OUTCOMES = 10**5
"""Largest number of drafts of a whole batch for an exact enumeration."""


@dataclass(frozen=True)
class Shown:
    """What a verifier is shown of one draft: `tokens`, of which `kept` were kept.

    For a rule that looks ahead `tokens` has one more, the first dropped token. `sets`: for a rule that
    refills, the sets K_j of the kept positions and of the first dropped one.
    """

    tokens: Prefix
    kept: int
    sets: tuple[frozenset[int], ...] | None = None


@dataclass(frozen=True)
class Batch:
    """Requests drafted together, of which at most `capacity` drafted tokens are verified.

    `speed[B]`: calls per second with B verified tokens, for the rules that maximise throughput; 1 / (R + B)
    where it is not given. Raises BadInput for drafts that are not chains, for a capacity below zero, for
    speeds that do not fit and for too many drafts.

    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.selection import named
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))
    >>> Batch((toy, toy), named("tetris"), 1).select(((0,), (1,)))
    (Shown(tokens=(0,), kept=1, sets=None), Shown(tokens=(), kept=0, sets=None))
    """

    requests: tuple[Instance, ...]
    rule: Rule
    capacity: int
    speed: tuple[Number, ...] = ()
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.requests:
            raise BadInput("requests: a batch has at least one request")
        for r, request in enumerate(self.requests, 1):
            if not isinstance(request.draft, Chain):
                raise BadInput(f"request {r}: selection is defined on chains, not on {request.draft.label}")
        if isinstance(self.capacity, bool) or not isinstance(self.capacity, int) or self.capacity < 0:
            raise BadInput(f"selection: capacity must be a whole number from 0, not {quoted(self.capacity)}")
        if self.outcomes > OUTCOMES:
            raise BadInput(f"the batch has more than {OUTCOMES:,} drafts, too many to enumerate")
        most = min(self.capacity, sum(request.draft.depth for request in self.requests))
        object.__setattr__(self, "capacity", most)
        if not self.speed:
            number = one(self.requests[0].target[()])
            speed = tuple(number / (len(self.requests) + kept) for kept in range(most + 1))
            object.__setattr__(self, "speed", speed)
        if any(speed < 0 for speed in self.speed):
            raise BadInput("selection: speed has a number below 0")
        if len(self.speed) <= most:
            raise BadInput(f"selection: speed needs {most + 1} numbers, for 0 to {most} verified tokens")

    @property
    def outcomes(self) -> int:
        """An upper bound of how many drafts of the whole batch there are."""
        return prod(request.draft.outcomes(request.vocab) for request in self.requests)

    def lengths(self, drafts: Sequence[Prefix]) -> list[int]:
        """How many tokens of each draft the rule keeps. Raises Unpredictable if the rule reads too much."""
        models = [(request.target, request.proposal) for request in self.requests]
        view = View(models, drafts, self.capacity, self.speed, self.rule)
        self.rule.select(view)
        return view.lengths

    def select(self, drafts: Sequence[Prefix]) -> tuple[Shown, ...]:
        """What the verifier is shown of each draft."""
        lengths = self.lengths(drafts)
        return tuple(
            Shown(
                draft[: length + self.rule.ahead],
                length,
                self._sets(drafts, r, length) if self.rule.refill else None,
            )
            for r, (draft, length) in enumerate(zip(drafts, lengths, strict=True))
        )

    def _sets(self, drafts: Sequence[Prefix], r: int, length: int) -> tuple[frozenset[int], ...]:
        # K_j of the kept positions and of the first that is dropped: the rule is run again with other tokens.
        proposal, sets = self.requests[r].proposal, []
        for j in range(min(length + 1, len(drafts[r]))):
            before, kept = drafts[r][:j], set()
            for y, mass in enumerate(proposal[before]):
                if mass > 0:
                    others = [*drafts[:r], (*before, y), *drafts[r + 1 :]]
                    if self.lengths(others)[r] > j:
                        kept.add(y)
            sets.append(frozenset(kept))
        return tuple(sets)


class Extended:
    """A model over one more token, which has probability zero."""

    def __init__(self, rows: Rows):
        self.rows, self.vocab = rows, rows.vocab + 1
        self._found: dict[Prefix, Row] = {}

    def __getitem__(self, prefix: Prefix) -> Row:
        if prefix not in self._found:
            row = self.rows[tuple(x for x in prefix if x < self.rows.vocab)]
            self._found[prefix] = (*row, row[0] - row[0])
        return self._found[prefix]


def presented(request: Instance, shown: Shown) -> tuple[Draft, Rows]:
    """The draft and the target that the verifier is handed for one request.

    With sets K_j, a token outside K_j is shown as one more token of the vocabulary, drawn with the mass of q
    outside K_j and of probability zero under the target. The verifier needs no other change.
    """
    tokens, sets, proposal = shown.tokens, shown.sets, request.proposal
    if sets is None:
        return Draft(chained(tokens, [proposal[tokens[:j]] for j in range(len(tokens))])), request.target
    if len(tokens) < request.draft.depth:
        tokens = (*tokens, request.vocab)
    laws = [_restricted(proposal[tokens[:j]], kept) for j, kept in enumerate(sets)]
    return Draft(chained(tokens, laws)), Extended(request.target)


def _restricted(q: Row, kept: frozenset[int]) -> Row:
    zero = q[0] - q[0]
    on = tuple([mass if x in kept else zero for x, mass in enumerate(q)])
    off = tuple([zero if x in kept else mass for x, mass in enumerate(q)])
    return (*on, total(off))
