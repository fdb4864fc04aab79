"""A batch: several requests at once, and the rule that selects which of their drafted tokens are verified."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from draftproof.theory.draft import Draft, chained
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput, whole
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Number, Prefix, one
from draftproof.theory.selection.view import Rule, View

OUTCOMES = 10**5
"""Largest number of drafts of a whole batch for an exact enumeration."""


@dataclass(frozen=True)
class Shown:
    """What a verifier is shown of one draft: `tokens`, of which `kept` were kept.

    For a rule that looks ahead `tokens` has one more, the first dropped token.
    """

    tokens: Prefix
    kept: int


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
    (Shown(tokens=(0,), kept=1), Shown(tokens=(), kept=0))
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
        whole("selection: capacity", self.capacity, 0)
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

    def select(self, drafts: Sequence[Prefix]) -> tuple[Shown, ...]:
        """What the verifier is shown of each draft. Raises Unpredictable if the rule reads too much."""
        models = [(request.target, request.proposal) for request in self.requests]
        view = View(models, drafts, self.capacity, self.speed, self.rule)
        self.rule.select(view)
        return tuple(
            Shown(draft[: length + self.rule.ahead], length)
            for draft, length in zip(drafts, view.lengths, strict=True)
        )


def presented(request: Instance, shown: Shown) -> Draft:
    """The draft that the verifier is handed for one request."""
    tokens, proposal = shown.tokens, request.proposal
    return Draft(chained(tokens, [proposal[tokens[:j]] for j in range(len(tokens))]))
