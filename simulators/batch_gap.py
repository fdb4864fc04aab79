"""What selection gains: the mean number of tokens that a batch emits, for every rule and at best."""

from dataclasses import dataclass, replace
from itertools import product
from math import prod

from flint import fmpq

from draftproof.simulators.batches import Emitted, judge_batch, must_verify
from draftproof.theory.batch import Batch, Shown
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.selection import RULES
from draftproof.theory.verifier import Verifier


@dataclass(frozen=True)
class BatchGap:
    """The mean number of tokens that a batch emits in one call, for every selection rule.

    `lossless`: whether the joint law is right on this batch. `predictable`: the most that a predictable rule
    can emit. `ahead`: the most if the first dropped token of each request may be read, and is judged, too.
    """

    verifier: str
    emitted: dict[str, fmpq]
    lossless: dict[str, bool]
    predictable: fmpq
    ahead: fmpq


def measure_batch(batch: Batch, verifier: Verifier) -> BatchGap:
    """All rules with the batch's capacity. Raises BadInput for a verifier that a batch cannot use.

    >>> from draftproof.simulators.instances.batches import witness
    >>> from draftproof.theory.verifiers import named
    >>> gap = measure_batch(witness("tetris"), named("token"))
    >>> gap.emitted["tetris"], gap.emitted["tetris-repaired"], gap.predictable, gap.ahead
    (8/3, 8/3, 17/6, 35/12)
    """
    must_verify(verifier)
    verdicts = {name: judge_batch(replace(batch, rule=rule), verifier) for name, rule in RULES.items()}
    every = ONE * len(batch.requests)  # one token of each request beside those accepted
    return BatchGap(
        verifier.name,
        {name: every + verdict.expected_accepted for name, verdict in verdicts.items()},
        {name: verdict.lossless for name, verdict in verdicts.items()},
        every + most_accepted(batch, verifier, ahead=False),
        every + most_accepted(batch, verifier, ahead=True),
    )


def most_accepted(batch: Batch, verifier: Verifier, ahead: bool) -> fmpq:
    """The largest mean number of accepted tokens over all predictable rules, which may know all rows.

    A dynamic programme over what was revealed: in each state the rule stops or keeps the next token of one
    request, which reveals it, or with `ahead` the token after it. A rule that draws lots gains nothing.
    """
    emitted = [Emitted(request, verifier) for request in batch.requests]
    depths = [request.draft.depth for request in batch.requests]
    known: dict[tuple[Shown, ...], fmpq] = {}

    def revealed(r: int, shown: Shown) -> list[tuple[fmpq, Shown]]:
        # Every way to go on when the tokens up to kept (and one more) must be known.
        if len(shown.tokens) >= min(shown.kept + ahead, depths[r]):
            return [(ONE, shown)]
        row = batch.requests[r].proposal[shown.tokens]
        return [(q, replace(shown, tokens=(*shown.tokens, x))) for x, q in enumerate(row) if q > 0]  # type: ignore[misc]

    def value(state: tuple[Shown, ...]) -> fmpq:
        if state not in known:
            options = [sum((emitted[r][shown].accepted for r, shown in enumerate(state)), ZERO)]
            if sum(shown.kept for shown in state) < batch.capacity:
                options += [keep(state, r) for r, shown in enumerate(state) if shown.kept < depths[r]]
            known[state] = max(options)
        return known[state]

    def keep(state: tuple[Shown, ...], r: int) -> fmpq:
        next_one = replace(state[r], kept=state[r].kept + 1)
        return sum(
            (q * value((*state[:r], shown, *state[r + 1 :])) for q, shown in revealed(r, next_one)), ZERO
        )

    out = ZERO
    for start in product(*(revealed(r, Shown((), 0)) for r in range(len(depths)))):
        masses, state = zip(*start, strict=True)
        out += prod(masses, start=ONE) * value(state)
    return out
