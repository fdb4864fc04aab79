"""Shrinking a counterexample: the smallest instance on which a verifier still goes wrong."""

from collections.abc import Callable, Iterator
from time import monotonic

from flint import fmpq

from draftproof.simulators.verdict import Wrong, judge
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Table
from draftproof.theory.verifier import Verifier


def shrink(instance: Instance, fails: Callable[[Instance], bool], seconds: float = 5.0) -> Instance:
    """Makes the instance smaller for as long as `fails` holds: shorter drafts, fewer symbols, rows that do
    not depend on the context, smaller denominators. Stops when no single step helps or time is up.

    >>> from draftproof.simulators.instances.randoms import Randoms
    >>> from draftproof.simulators.verdict import judge
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> lossy = lambda each: not judge(each, named("hsd-released")).lossless
    >>> big = next(each for each in Randoms(Chain(3), 3, 50) if lossy(each))
    >>> small = shrink(big, lossy)
    >>> small.vocab, small.draft.depth
    (2, 2)
    """
    deadline = monotonic() + seconds
    found = True
    while found:
        found = False
        for smaller in _smaller(instance):
            if monotonic() > deadline:
                return instance
            if fails(smaller):
                instance, found = smaller, True
                break
    return instance


def smallest(instance: Instance, verifier: Verifier, iterations: int | None = None) -> tuple[Instance, Wrong]:
    """A smaller instance on which the verifier is still not lossless, and the first wrong prefix there."""
    small = shrink(instance, lambda each: not judge(each, verifier, iterations).lossless)
    wrong = judge(small, verifier, iterations).wrong
    assert wrong is not None
    return small, wrong


def _smaller(instance: Instance) -> Iterator[Instance]:
    # Large steps first; each makes (draft, vocabulary, rows given, denominators) smaller.
    for draft in instance.draft.smaller():
        yield from _tried(instance.target, instance.proposal, draft)
    if instance.vocab > 2:
        for token in reversed(range(instance.vocab)):
            target, proposal = _without(instance.target, token), _without(instance.proposal, token)
            if target and proposal:
                yield from _tried(target, proposal, instance.draft)
    for target, proposal in _fewer_rows(instance.target, instance.proposal, instance.draft):
        yield from _tried(target, proposal, instance.draft)
    for rows in _simpler_rows(dict(instance.target.given())):
        yield from _tried(Table(instance.vocab, rows), instance.proposal, instance.draft)
    for rows in _simpler_rows(dict(instance.proposal.given())):
        yield from _tried(instance.target, Table(instance.vocab, rows), instance.draft)


def _tried(target: Table, proposal: Table, draft: Scheme) -> Iterator[Instance]:
    try:
        yield Instance(target, proposal, draft)
    except BadInput:
        return


def _without(table: Table, token: int) -> Table | None:
    rows: dict[Prefix, Row] = {}
    for prefix, row in table.given():
        if token in prefix:
            continue
        left = ONE - row[token]
        if not left:
            return None
        renamed = tuple(x - (x > token) for x in prefix)
        rows[renamed] = tuple(mass / left for x, mass in enumerate(row) if x != token)
    return Table(table.vocab - 1, rows)


def _fewer_rows(target: Table, proposal: Table, draft: Scheme) -> Iterator[tuple[Table, Table]]:
    yield from _thinned(target, proposal, lambda prefix: not prefix)
    yield from _thinned(target, proposal, lambda prefix: len(prefix) < draft.depth)
    for drop in [prefix for prefix, _ in target.given() if prefix]:
        yield from _thinned(target, proposal, lambda prefix, drop=drop: prefix != drop, only="target")
    for drop in [prefix for prefix, _ in proposal.given() if prefix]:
        yield from _thinned(target, proposal, lambda prefix, drop=drop: prefix != drop, only="proposal")


def _thinned(
    target: Table, proposal: Table, keep: Callable[[Prefix], bool], only: str = ""
) -> Iterator[tuple[Table, Table]]:
    p, q = dict(target.given()), dict(proposal.given())
    fewer_p = p if only == "proposal" else {prefix: row for prefix, row in p.items() if keep(prefix)}
    fewer_q = q if only == "target" else {prefix: row for prefix, row in q.items() if keep(prefix)}
    if len(fewer_p) + len(fewer_q) < len(p) + len(q):
        yield Table(target.vocab, fewer_p), Table(proposal.vocab, fewer_q)


def _simpler_rows(rows: dict[Prefix, Row]) -> Iterator[dict[Prefix, Row]]:
    for prefix, row in rows.items():
        common = _denominator(row)
        for denominator in (1, 2, 3, 4, 5, 6, 8, 10, 12):
            if denominator < common:
                yield {**rows, prefix: rounded(row, denominator)}


def _denominator(row: Row) -> int:
    common = 1
    for mass in row:
        common *= int((mass * common).q)
    return common


def rounded(row: Row, denominator: int) -> Row:
    """The row nearest to `row` among those of one denominator, by largest remainders.

    >>> from draftproof.theory.numbers import exact
    >>> rounded((exact("2/7"), exact("5/7")), 3)
    (1/3, 2/3)
    """
    scaled = [mass * denominator for mass in row]
    whole = [int(x.p) // int(x.q) for x in scaled]
    by_remainder = sorted(range(len(row)), key=lambda x: scaled[x] - whole[x], reverse=True)
    for x in by_remainder[: denominator - sum(whole)]:
        whole[x] += 1
    return (
        tuple(fmpq(weight, denominator) for weight in whole)
        if sum(whole)
        else (ONE, *[ZERO] * (len(row) - 1))
    )
