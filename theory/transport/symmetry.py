"""Tokens that may change places without changing an instance, and what stands for their orbits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, permutations, product
from math import factorial, prod

from flint import fmpq

from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

ORDER = 720
"""Largest group of exchanges that drafts are merged by."""


def classes(law: Mapping[frozenset[Prefix], fmpq], target: Rows, context: Prefix) -> list[list[int]]:
    """The classes, of two tokens or more, whose exchange leaves the law of drafts and the target as they are.

    >>> from draftproof.theory.table import Table
    >>> half = fmpq(1, 2)
    >>> law = {frozenset({(), (0,)}): half, frozenset({(), (1,)}): half}
    >>> classes(law, Table.exact(3, {(): ["1/4", "1/4", "1/2"]}), ())
    [[0, 1]]
    """
    inner = {prefix[:-1] for prefixes in law for prefix in prefixes if len(prefix) > len(context)}
    inner.add(context)
    found: list[list[int]] = []
    for x in range(target.vocab):
        for group in found:
            if _exchangeable(group[0], x, law, target, inner, len(context)):
                group.append(x)
                break
        else:
            found.append([x])
    found = [group for group in found if len(group) > 1]
    while found and prod(factorial(len(group)) for group in found) > ORDER:
        max(found, key=len).pop()
        found = [group for group in found if len(group) > 1]
    return found


def canonical(prefix: Prefix, alike: Sequence[Sequence[int]], start: int) -> Prefix:
    """The prefix with the tokens of each class, from position `start` on, renamed in order of appearance.

    >>> canonical((2, 1, 2, 0), [[1, 2]], 0)
    (1, 2, 1, 0)
    """
    names: dict[int, int] = {}
    fresh: dict[int, Iterator[int]] = {}
    for group in alike:
        fresh.update(dict.fromkeys(group, iter(group)))
    for x in prefix[start:]:
        if x in fresh and x not in names:
            names[x] = next(fresh[x])
    return (*prefix[:start], *(names.get(x, x) for x in prefix[start:]))


def merged(
    law: Mapping[frozenset[Prefix], fmpq], alike: Sequence[Sequence[int]], start: int
) -> dict[frozenset[Prefix], fmpq]:
    """The law of orbits of drafts, each by one of its members."""
    out: dict[frozenset[Prefix], fmpq] = {}
    seen: dict[frozenset[Prefix], frozenset[Prefix]] = {}
    for prefixes, mass in law.items():
        if prefixes not in seen:
            for names in exchanges(tuple(map(tuple, alike))):
                seen[_image(prefixes, names, start)] = prefixes
        key = seen[prefixes]
        out[key] = out.get(key, ZERO) + mass
    return out


@lru_cache(maxsize=64)
def exchanges(alike: tuple[tuple[int, ...], ...]) -> list[dict[int, int]]:
    """Every renaming of tokens within their classes."""
    olds = list(chain.from_iterable(alike))
    picks = product(*(permutations(group) for group in alike))
    return [dict(zip(olds, chain.from_iterable(news), strict=True)) for news in picks]


def _renamed(prefix: Prefix, names: Mapping[int, int], start: int) -> Prefix:
    return (*prefix[:start], *(names.get(x, x) for x in prefix[start:]))


def _image(prefixes: Iterable[Prefix], names: Mapping[int, int], start: int) -> frozenset[Prefix]:
    return frozenset(_renamed(prefix, names, start) for prefix in prefixes)


def _exchangeable(
    a: int, b: int, law: Mapping[frozenset[Prefix], fmpq], target: Rows, inner: Iterable[Prefix], start: int
) -> bool:
    names = {a: b, b: a}
    tokens = range(target.vocab)
    for prefix in inner:
        row, image = target[prefix], target[_renamed(prefix, names, start)]
        if any(row[x] != image[names.get(x, x)] for x in tokens):
            return False
    return all(law.get(_image(prefixes, names, start)) == mass for prefixes, mass in law.items())
