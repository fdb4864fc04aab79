"""The stateless optimum: E[tau] of the best rule for one instance that is lossless in one iteration.

The rule knows every row of the instance, also after prefixes that were not drafted. So its value bounds
E[tau] of every verifier that keeps no state and is lossless in one iteration. On chains it is block
verification's E[tau]. Drafts with the same drafted prefixes are merged, and so are drafts that differ by an
exchange of tokens under which the instance is symmetric.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, permutations, product
from math import factorial, prod

from flint import fmpq

from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows
from draftproof.theory.transport.block import Drafted
from draftproof.theory.transport.bounds import Optimum, Program, dual_bound, primal_bound, solve

ORDER = 720
"""Largest group of exchanges by which drafts are merged."""


def stateless(prefixes: Drafted, target: Rows) -> Optimum:
    """The stateless optimum for the law of drafts, with its certified interval. Raises BadInput when the
    program is too large, or HiGHS gives up on it.

    >>> from draftproof.theory.table import Table
    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> law = {frozenset({(), (x,)}): q[x] for x in (0, 1)}
    >>> found = stateless(law, Table(2, {(): p}))
    >>> round(found.value, 9), found.lower <= fmpq(2, 3) <= found.upper, found.error < 1e-9
    (0.666666667, True, True)
    """
    classes = exchangeable_tokens(prefixes, target)
    program = Program(target, merged(prefixes, classes), classes)
    value, f, mu = solve(program)
    size = program.size, len(f) + len(mu)
    return Optimum(value, primal_bound(program, f), dual_bound(program, mu), *size)


def exchangeable_tokens(law: Mapping[frozenset[Prefix], fmpq], target: Rows) -> list[list[int]]:
    """Classes of two or more tokens whose exchange does not change the law of drafts or the target."""
    inner = {prefix[:-1] for prefixes in law for prefix in prefixes}
    found: list[list[int]] = []
    for x in range(target.vocab):
        for group in found:
            if _exchangeable(group[0], x, law, target, inner):
                group.append(x)
                break
        else:
            found.append([x])
    found = [group for group in found if len(group) > 1]
    while found and prod(factorial(len(group)) for group in found) > ORDER:
        max(found, key=len).pop()
        found = [group for group in found if len(group) > 1]
    return found


def merged(
    law: Mapping[frozenset[Prefix], fmpq], classes: Sequence[Sequence[int]]
) -> dict[frozenset[Prefix], fmpq]:
    """The law of orbits of drafts; each orbit is represented by one of its members."""
    tokens, groups = list(chain(*classes)), product(*map(permutations, classes))
    exchanges = [dict(zip(tokens, chain(*group), strict=True)) for group in groups]
    out: dict[frozenset[Prefix], fmpq] = {}
    seen: dict[frozenset[Prefix], frozenset[Prefix]] = {}
    for prefixes, mass in law.items():
        if prefixes not in seen:
            for names in exchanges:
                seen[_image(prefixes, names)] = prefixes
        key = seen[prefixes]
        out[key] = out.get(key, ZERO) + mass
    return out


def _renamed(prefix: Prefix, names: Mapping[int, int]) -> Prefix:
    return tuple(names.get(x, x) for x in prefix)


def _image(prefixes: Iterable[Prefix], names: Mapping[int, int]) -> frozenset[Prefix]:
    return frozenset(_renamed(prefix, names) for prefix in prefixes)


def _exchangeable(
    a: int, b: int, law: Mapping[frozenset[Prefix], fmpq], target: Rows, inner: Iterable[Prefix]
) -> bool:
    names = {a: b, b: a}
    tokens = range(target.vocab)
    for prefix in inner:
        row, image = target[prefix], target[_renamed(prefix, names)]
        if any(row[x] != image[names.get(x, x)] for x in tokens):
            return False
    return all(law.get(_image(prefixes, names)) == mass for prefixes, mass in law.items())
