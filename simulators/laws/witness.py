"""Shrinks a counterexample to the smallest instance found on which a verifier still goes wrong."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import lcm
from time import monotonic
from typing import Any, TypeVar

from draftproof.simulators.laws.verdict import Verdict
from draftproof.simulators.support.make import Key, assembled, weighted
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Row
from draftproof.theory.selection.batch import Batch

Rows = dict[Key, Row]
Given = TypeVar("Given", bound=Instance | Batch)
Judged = TypeVar("Judged", bound=Verdict)


def shrink(instance: Given, fails: Callable[[Given], bool], seconds: float = 5.0) -> Given:
    """Makes the instance smaller for as long as `fails` holds: shorter drafts, fewer symbols, rows that do
    not depend on the context, smaller denominators. Stops when no single step helps or time is up.
    """
    deadline = monotonic() + seconds
    while True:
        steps: Any = _smaller_batches(instance) if isinstance(instance, Batch) else _smaller(instance)
        for smaller in steps:
            if monotonic() > deadline:
                return instance
            if fails(smaller):
                instance = smaller
                break
        else:
            return instance


def smallest(given: Given, judge: Callable[[Given], Judged]) -> tuple[Given, Judged]:
    """A smaller instance or batch on which the law is still not kept, and the verdict there."""
    small = shrink(given, lambda each: not judge(each).kept)
    return small, judge(small)


def _smaller_batches(batch: Batch) -> Iterator[Batch]:
    # Fewer requests, a smaller capacity, a smaller request.
    requests = batch.requests
    for r in range(len(requests)):
        if len(requests) > 1:
            yield replace(batch, requests=requests[:r] + requests[r + 1 :])
    if batch.capacity:
        yield replace(batch, capacity=batch.capacity - 1)
    for r, request in enumerate(requests):
        for smaller in _smaller(request):
            yield replace(batch, requests=(*requests[:r], smaller, *requests[r + 1 :]))


def _smaller(instance: Instance) -> Iterator[Instance]:
    for rows, vocab, draft in _steps(instance):
        with suppress(BadInput):  # a smaller vocabulary may be too small for the draft
            yield assembled(rows, vocab, draft)


def _steps(instance: Instance) -> Iterator[tuple[Rows, int, Scheme]]:
    # Large steps first; each reduces the draft, the vocabulary, the number of rows or a denominator.
    vocab, draft = instance.vocab, instance.draft
    rows: Rows = {("p", prefix): row for prefix, row in instance.target.given()}
    rows |= {("q", prefix): row for prefix, row in instance.proposal.given()}
    for shorter in draft.smaller():
        yield rows, vocab, shorter
    if vocab > 2:
        for token in reversed(range(vocab)):
            if all(row[token] != ONE for (_, prefix), row in rows.items() if token not in prefix):
                yield _without(rows, token), vocab - 1, draft
    for length in (1, draft.depth):
        shallow = {key: row for key, row in rows.items() if len(key[1]) < length}
        if len(shallow) < len(rows):
            yield shallow, vocab, draft
    for drop in [key for key in rows if key[1]]:
        yield {key: row for key, row in rows.items() if key != drop}, vocab, draft
    for key, row in rows.items():
        common = lcm(*(int(mass.q) for mass in row))
        for denominator in (1, 2, 3, 4, 5, 6, 8, 10, 12):
            if denominator < common:
                yield {**rows, key: rounded(row, denominator)}, vocab, draft


def _without(rows: Rows, token: int) -> Rows:
    # Tokens above the removed one are renumbered.
    return {
        (which, tuple(x - (x > token) for x in prefix)): tuple(
            mass / (ONE - row[token]) for x, mass in enumerate(row) if x != token
        )
        for (which, prefix), row in rows.items()
        if token not in prefix
    }


def rounded(row: Row, denominator: int) -> Row:
    """The row nearest to `row` among those of one denominator, by largest remainders."""
    scaled = [mass * denominator for mass in row]
    whole = [int(x.p) // int(x.q) for x in scaled]
    by_remainder = sorted(range(len(row)), key=lambda x: scaled[x] - whole[x], reverse=True)
    for x in by_remainder[: denominator - sum(whole)]:
        whole[x] += 1
    return weighted(whole)
