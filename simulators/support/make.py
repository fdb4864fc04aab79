"""Helpers that make instances, used by every family."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product

from flint import fmpq

from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Table

PREFIXES = 10**5  # largest number of prefixes with rows in one instance

Key = tuple[str, Prefix]
"""("p" or "q", prefix): a row of the target or of the proposal."""


def prefixes(vocab: int, depth: int) -> Iterator[Prefix]:
    """Every prefix of length 0 .. depth, shorter ones first."""
    for length in range(depth + 1):
        yield from product(range(vocab), repeat=length)


def limit_prefixes(vocab: int, depth: int, name: str) -> None:
    """Raises BadInput if there are more than PREFIXES prefixes of length 0 .. depth."""
    if sum(vocab**length for length in range(depth + 1)) > PREFIXES:
        raise BadInput(f"{name}: an instance has rows for at most {PREFIXES:,} prefixes")


def weighted(weights: list[int]) -> Row:
    """The row in proportion to whole-number weights."""
    whole = sum(weights)
    return tuple(fmpq(weight, whole) for weight in weights)


def tabulate(
    vocab: int, draft: Scheme, p: Callable[[Prefix], Row], q: Callable[[Prefix], Row], name: str
) -> Instance:
    """An instance with rows p(prefix) up to the draft's depth and q(prefix) above; BadInput for too many."""
    limit_prefixes(vocab, draft.depth, name)
    target = Table.exact(vocab, {prefix: p(prefix) for prefix in prefixes(vocab, draft.depth)})
    proposal = Table.exact(vocab, {prefix: q(prefix) for prefix in prefixes(vocab, draft.depth - 1)})
    return Instance(target, proposal, draft, name)


def assembled(rows: Mapping[Key, Row], vocab: int, draft: Scheme, name: str = "") -> Instance:
    """The instance with these rows of target and proposal."""
    p, q = ({prefix: row for (of, prefix), row in rows.items() if of == which} for which in "pq")
    return Instance(Table(vocab, p), Table(vocab, q), draft, name)
