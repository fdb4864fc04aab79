"""Selection in the loop: the rules of theory/selection decide which drafted tokens a target pass verifies.

A rule sees the proposal's rows and, if it is predictable, only the tokens that it has kept. The target's rows
are computed after it. So instead of 1 - TV(p, q), the probability that the next token is accepted, it reads
the drafter's confidence or, of a drafter without a head for it, the proposal's largest probability.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isfinite
from typing import NamedTuple

import torch
from flint import fmpq
from torch import Tensor

from draftproof.gpu.network.session import Draft
from draftproof.gpu.sampling.names import SELECTIONS
from draftproof.gpu.sampling.tree import Tree, chain_on
from draftproof.theory.errors import BadInput, unknown
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Number, Prefix
from draftproof.theory.selection import named
from draftproof.theory.selection.view import Rule, View

COST = 1 / 64
"""The time of one more verified token, as a share of a call that verifies none, for rules that maximise
throughput: weights are read once a call, whatever the number of tokens.
"""


@dataclass(frozen=True)
class Selection:
    """A rule, the largest number of drafted tokens that it keeps of a batch in one step (None: all), and the
    number of texts of a batch (None: all of a run).

    >>> Selection.of("tetris", budget=4).rule.predictable
    False
    """

    rule: Rule
    budget: int | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        for name, number, least in (("budget", self.budget, 0), ("batch", self.batch, 1)):
            if number is not None and number < least:
                raise BadInput(f"{name} must be a whole number from {least}, not {number}")

    @classmethod
    def of(cls, name: str, budget: int | None = None, batch: int | None = None) -> "Selection":
        """The selection with the rule of that name; BadInput for a name that is not in `SELECTIONS`."""
        if name not in SELECTIONS:
            raise unknown("selection rule", name, SELECTIONS)
        return cls(named(name), budget, batch)

    def select(self, rows: Sequence[int], draft: Draft) -> "Selected":
        """What is left of the drafts of the texts with these numbers, ascending."""
        tokens, proposal = draft.tokens, draft.proposal
        assert proposal is not None, "chains have rows"
        sure = proposal.amax(-1) if draft.confidence is None else draft.confidence
        odds = proposal.gather(2, tokens.clamp(min=0)[..., None])[..., 0]
        drafts = [tuple(x for x in row if x >= 0) for row in tokens.tolist()]
        known = list(zip(drafts, odds.tolist(), sure.tolist(), strict=True))
        batches = groupby(range(len(rows)), lambda b: rows[b] // self.batch if self.batch else 0)
        views = [_View(self, [known[b] for b in batch]) for _, batch in batches]
        for view in views:
            self.rule.select(view)
        counts = [length for view in views for length in view.lengths]
        kept = torch.tensor(counts, device=tokens.device)
        after = self.rule.ahead
        size = min(max(max(counts) + after, 1), tokens.shape[1])
        place = torch.arange(size, device=tokens.device)
        left = torch.where(place < kept[:, None] + after, tokens[:, :size], -1)
        proposal = proposal[:, :size]
        tree, read = (chain_on(gamma, tokens.device) for gamma in (size, max(counts)))
        left = replace(draft, tree=tree, tokens=left, rows=proposal, logits=None)
        return Selected(left, read, kept, counts)


class _View(View):
    """The drafts of a batch, (tokens, odds, confidences) of each text: float32 numbers as rationals."""

    def __init__(
        self, selection: Selection, texts: Sequence[tuple[Prefix, list[float], list[float]]]
    ) -> None:
        drafts, self._odds, self._sure = zip(*texts, strict=True)
        every = sum(map(len, drafts))
        capacity = every if selection.budget is None else min(selection.budget, every)
        speed = [1 / (1 + kept * _exact(COST)) for kept in range(capacity + 1)]
        super().__init__([], drafts, capacity, speed, selection.rule)

    def probability(self, r: int, j: int) -> Number:
        assert self.prefix(r, j + 1)  # which is revealed
        return _exact(self._odds[r][j])

    def confidence(self, r: int, prefix: Prefix) -> Number:
        return _exact(self._sure[r][len(prefix)])

    def one(self) -> Number:
        return ONE


def _exact(number: float) -> fmpq:
    if not isfinite(number):
        raise BadInput("selection met a proposal row that is not a distribution")
    return fmpq(*number.as_integer_ratio())


class Selected(NamedTuple):
    """What is left of drafted chains: the verifier is shown `draft`, the target reads the nodes of `read`.
    kept [B] (`counts` on the host) tokens of each draft may be accepted beside the extra token; None: all.
    """

    draft: Draft
    read: Tree
    kept: Tensor | None = None
    counts: list[int] | None = None
