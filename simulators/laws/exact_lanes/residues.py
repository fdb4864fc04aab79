"""Exact numbers of many instances at once: residues modulo primes, and floats beside them for comparisons.

A number x of one lane is n / (t^e u^f ..): n and the factors t, u, .. are whole numbers. Known of it are its
residues modulo primes below 2^27, a float and a bound of that float's error, and the exponents with a bound
of each factor in bits. |n| is at most |x| times the factors; where that is less than the product of the
primes, 1 for none, x = 0 if and only if all its residues are 0. So no verdict is a matter of chance. Residues
lie around 0 and are kept as floats, which hold their products and sums exactly. A float that tells n becomes
the nearest to n / (t^e u^f ..) before it is compared or divided by, so that errors do not add up.

Equal expressions are computed once: a verifier's runs on all drafts share what they have in common.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from functools import cache, cached_property, reduce
from math import inf, log2, prod
from operator import index as operator_index
from typing import Any, TypeAlias

import numpy as np
from flint import fmpz

Factors: TypeAlias = Counter[Hashable]
"""Factor -> its exponent in the denominator: + of a product, | of a common denominator."""

UNIT = 2.0**-53
SAFE, TINY = 1 + 1e-9, 1e-300
"""What a bound is multiplied by, and what is added, so that its own rounding cannot make it too small."""


@cache
def primes(count: int) -> tuple[int, ...]:
    """The largest primes below 2^27."""
    found, candidate = list[int](), 2**27 - 1
    while len(found) < count:
        if fmpz(candidate).is_prime():
            found.append(candidate)
        candidate -= 2
    return tuple(found)


class Arithmetic:
    """The numbers of some lanes. `undecided`: lanes in which a comparison stayed open, or a divisor is 0 or a
    multiple of a prime; what is computed in them means nothing. `need`: how many bits the product of the
    primes must have for all that was found equal.
    """

    def __init__(self, lanes: int, count: int):
        self.primes = np.array(primes(count), dtype=float)[:, None]
        self._inverses = 1 / self.primes
        self.bits, self.need = log2(prod(primes(count))) / SAFE, -inf
        self.undecided = np.zeros(lanes, dtype=bool)
        self.sizes: dict[Hashable, float] = {}  # factor -> bits
        self.heights: dict[Hashable, Any] = {}  # factor -> its size in each lane, if that is known exactly
        self.known: dict[Hashable, Any] = {}

    @property
    def enough(self) -> int:
        """How many primes suffice for what was needed."""
        return next(count for count in range(10**4) if self.need < log2(prod(primes(count))) / SAFE)

    def once(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The result of an expression, computed if it is new."""
        if key not in self.known:
            self.known[key] = compute()
        return self.known[key]

    def number(self, near: np.ndarray, residues: np.ndarray, error: float, factors: Factors) -> "Exact":
        made = near.view(Exact)
        made.by, made.near, made.residues, made.error, made.factors = self, near, residues, error, factors
        made.key = object()
        return made

    def reduced(self, whole: np.ndarray) -> np.ndarray:
        """Residues, from about -p/2 to p/2, of whole numbers of at most p^2 / 2; [.., primes or 1, lanes]."""
        multiples = whole * self._inverses
        np.rint(multiples, multiples)
        multiples *= self.primes
        return np.subtract(whole, multiples, multiples)

    def row(self, weights: np.ndarray) -> "Exact":
        """The rows in proportion to whole-number weights, int64 [V, lanes]. ValueError for a sum of 2^27."""
        whole, parts = weights.sum(axis=0), weights.astype(float)
        if weights.dtype != np.int64 or not 0 < whole.min() <= whole.max() < primes(99)[-1]:
            raise ValueError("weights of lanes are whole numbers of a sum from 1 to 2^27")
        alike = bool((whole == whole[0]).all())
        factor = ("whole", int(whole[0])) if alike else ("whole", len(self.sizes), "differ")
        self.sizes[factor] = log2(whole.max()) * SAFE
        self.heights[factor] = float(whole[0]) if alike else whole.astype(float)
        inverses = self.inverse(self.reduced((whole[:1] if alike else whole)[None]))
        residues = self.reduced(parts[:, None] * inverses)
        return self.number(parts / self.heights[factor], residues, UNIT, Counter((factor,)))

    def constant(self, value: Any, shape: tuple[int, ...] = ()) -> "Exact":
        """A whole number."""
        if isinstance(value, Exact):
            return value
        if isinstance(value, np.ndarray) or value != int(value):
            raise TypeError(f"{value!r} is no whole number")
        return self.once((int(value), shape), lambda: self._constant(int(value), shape))

    def _constant(self, value: int, shape: tuple[int, ...]) -> "Exact":
        near = np.full(shape, float(value))
        return self.number(near, self.reduced(np.atleast_1d(near)[..., None, :]), 0.0, Counter())

    def inverse(self, residues: np.ndarray) -> np.ndarray:
        """The inverses of residues, none of them 0, by one inverse of each prime."""
        *others, n = residues.shape
        if n == 1:
            inverted = np.frompyfunc(lambda x, p: pow(int(x), -1, int(p)), 2, 1)
            return self.reduced(np.asarray(inverted(residues, self.primes), dtype=float))
        if n % 2:
            return self.inverse(np.concatenate((residues, residues[..., :1]), axis=-1))[..., :n]
        pairs = residues.reshape(*others, 2, n // 2)
        products = self.inverse(self.reduced(pairs[..., 0, :] * pairs[..., 1, :]))
        return self.reduced((products[..., None, :] * pairs[..., ::-1, :]).reshape(residues.shape))

    def size(self, factors: Factors) -> float:
        """The bits of a product of factors."""
        return sum(exponent * self.sizes[factor] for factor, exponent in factors.items())

    def plus(self, a: "Exact", b: "Exact", sum_of: np.ufunc = np.add) -> "Exact":
        near = sum_of(a.near, b.near)
        residues = self.reduced(sum_of(a.residues, b.residues))
        error = (a.error + b.error + UNIT * (a.most + b.most)) * SAFE + TINY
        return self.number(near, residues, error, a.factors | b.factors)

    def times(self, a: "Exact", b: "Exact") -> "Exact":
        near = a.near * b.near
        error = (a.most * b.error + b.most * a.error + UNIT * a.most * b.most) * SAFE + TINY
        return self.number(near, self.reduced(a.residues * b.residues), error, a.factors + b.factors)

    def over(self, a: "Exact", b: "Exact") -> "Exact":
        """a / b. Of b = n / t the whole number n becomes a factor of the quotient, and t is cancelled."""
        inverse, least, self.sizes[b.key] = self.once(("1/", b.key), lambda: self._inverted(b))
        near = a.near * inverse.near
        most = float(np.abs(near).max())
        error = ((a.error + most * b.error) / least + 3 * UNIT * most) * SAFE + TINY
        factors = a.factors - b.factors + Counter((b.key,))
        return self.number(near, self.reduced(a.residues * inverse.residues), error, factors)

    def _inverted(self, b: "Exact") -> tuple["Exact", float, float]:
        # 1 / b, of error 0 as that is counted in `over` (of 1 + error where b may be 0); the least |b|; bits.
        whole, bits = self.settled(b), self.size(b.factors) + log2(b.most)
        left = ~(np.abs(b.near) > b.error) | (b.residues == 0).any(axis=-2)
        self._leave(left)
        below = np.where(left, 1 + b.error, b.near) if left.any() else b.near
        residues = self.inverse(np.where(left[..., None, :], 1.0, b.residues) if left.any() else b.residues)
        inverse = self.number(1 / below, residues, 0.0, Counter())
        if whole is not None and whole.ndim < 2:
            self.heights[b.key] = height = np.maximum(np.abs(whole), 1)
            bits = float(np.log2(np.max(height)))
        return inverse, float(np.abs(below).min()) - b.error, max(bits, 0.0) * SAFE

    def fraction(self, a: "Exact") -> tuple[np.ndarray | float, np.ndarray | float]:
        """n and t of a = n / t, if a's floats tell them, else 0 and 0."""
        whole = self.settled(a)
        return (0.0, 0.0) if whole is None else (whole, self._below(a))

    def _below(self, a: "Exact") -> Any:
        every = (self.heights[factor] for factor in a.factors.elements())
        return self.once(("product", frozenset(a.factors.items())), lambda: prod(every))

    def settled(self, a: "Exact") -> np.ndarray | None:
        """The whole numbers n of a = n / t, if a's floats tell them, which become the nearest to n / t."""
        size = self.size(a.factors) + max(log2(a.error + TINY) + 52, log2(a.most + 1))
        if size > 50 or not a.factors.keys() <= self.heights.keys():
            return None
        below = self._below(a)
        whole = np.rint(a.near * below)
        np.divide(whole, below, a.near)
        a.error = min(a.error, UNIT * a.most)
        return whole

    def sign(self, a: "Exact") -> tuple[np.ndarray, np.ndarray]:
        """In which lanes a < 0, and a > 0: by floats where their errors leave no doubt, else by residues."""
        if self.settled(a) is not None:
            return a.near < 0, a.near > 0
        doubt = ~(np.abs(a.near) > a.error)
        if doubt.any():
            self._leave(doubt & ~self.zero(a))
        return (a.near < 0) & ~doubt, (a.near > 0) & ~doubt

    def compared(self, a: "Exact", b: "Exact") -> tuple[np.ndarray, np.ndarray]:
        """In which lanes a < b, and a > b."""
        if b is not self.constant(0):
            a = self.once((np.subtract, a.key, b.key), lambda: self.plus(a, b, np.subtract))
        return self.once((np.sign, a.key), lambda: self.sign(a))

    def must_be_a_law(self, weight: Any, row: Any) -> None:
        """Leaves the lanes that reach a row, with this weight, which is no law there."""
        mass = row.sum(axis=0)
        self._leave((row < 0).any(axis=0) | (mass < 1) | (mass > 1), weight)

    def must_be_a_coin(self, weight: Any, probability: Any) -> None:
        """Leaves the lanes that reach a coin, with this weight, which is not in [0, 1] there."""
        coin = self.constant(probability)
        self._leave((coin < 0) | (1 - coin < 0), weight)

    def zero(self, a: "Exact") -> np.ndarray:
        """In which lanes a number is 0."""
        found = ~(np.abs(a.near) > a.error)
        if found.any():
            found &= ~a.residues.any(axis=-2)
            self.need = max(self.need, self.size(a.factors) + log2(2 * a.error + TINY) + 1e-6)
        return found

    def chosen(self, mask: np.ndarray, a: "Exact", b: "Exact") -> "Exact":
        """a in the lanes of the mask, b in the others."""

        def choose() -> tuple[Exact, np.ndarray]:
            if a.shape == b.shape and (mask.all() or not mask.any()):
                return (a if mask.any() else b), mask
            near = np.where(mask, a.near, b.near)
            residues = np.where(mask[..., None, :], a.residues, b.residues)
            return self.number(near, residues, max(a.error, b.error), a.factors | b.factors), mask

        return self.once((np.where, id(mask), a.key, b.key), choose)[0]  # the mask is kept, and so its id

    def _leave(self, lanes: np.ndarray, weight: Any = 1) -> None:
        if lanes.any():
            lanes = np.atleast_1d(lanes & (weight > 0))
            self.undecided |= lanes.reshape(-1, lanes.shape[-1]).any(axis=0)


class Exact(np.ndarray):
    """A number of each lane, or a row [V, lanes] of them; itself the array of floats. `key` is the same for
    equal expressions. What numpy offers beside `OPERATIONS` is refused.
    """

    by: Arithmetic
    near: np.ndarray
    residues: np.ndarray
    error: float
    factors: Factors
    key: Hashable

    @cached_property
    def most(self) -> float:
        """A bound of all absolute values."""
        return (max(float(self.near.max()), -float(self.near.min())) + self.error) * SAFE

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        by, operation = self.by, OPERATIONS.get(ufunc)
        if method != "__call__" or operation is None:
            return NotImplemented
        values = [by.constant(each) for each in inputs]
        if options:  # as theory/rows.py divides: x / y where y > 0, else 1
            [ones], where = options["out"], options["where"]
            values = [by.chosen(where, each, ones) for each in values]
        return by.once((ufunc, *[each.key for each in values]), lambda: operation(by, *values))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function in (np.ones_like, np.zeros_like):
            value = self.by.constant(int(function is np.ones_like), arguments[0].shape)
            return value.copy() if function is np.zeros_like else value  # which `rows` fills
        if function is np.where:
            return self.by.chosen(arguments[0], *map(self.by.constant, arguments[1:]))
        return NotImplemented

    def __getitem__(self, index: Any) -> "Exact":
        by = self.by
        which = repr(index) if isinstance(index, slice) else operator_index(index)
        part = lambda: by.number(self.near[index], self.residues[index], self.error, self.factors)  # noqa: E731
        return by.once((self.key, which), part)

    def __setitem__(self, index: Any, value: Any) -> None:
        # Of a copy or of new zeros: the others are shared.
        tokens = tuple(index) if isinstance(index, list) else (index,)
        for token in tokens:
            self.near[token], self.residues[token] = value, int(value)
        self.key = self.by.once(("set", self.key, tokens, value), object)
        self.__dict__.pop("most", None)

    def __iter__(self) -> "Iterator[Any]":
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return repr(self.near)

    def copy(self, order: Any = "C") -> "Exact":
        made = self.by.number(self.near.copy(), self.residues.copy(), self.error, self.factors)
        made.key = self.key
        return made

    def sum(self, axis: Any = None, *_: Any, **__: Any) -> Any:
        by, count = self.by, len(self)

        def summed() -> Exact:
            residues = by.reduced(reduce(np.add, self.residues))
            error = count * (self.error + count * UNIT * self.most) * SAFE + TINY
            return by.number(reduce(np.add, self.near), residues, error, self.factors)

        return by.once(("sum", self.key), summed)


OPERATIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: Arithmetic.plus,
    np.subtract: lambda by, a, b: by.plus(a, b, np.subtract),
    np.multiply: Arithmetic.times,
    np.divide: Arithmetic.over,
    np.minimum: lambda by, a, b: by.chosen(by.compared(a, b)[1], b, a),
    np.maximum: lambda by, a, b: by.chosen(by.compared(a, b)[0], b, a),
    np.less: lambda by, a, b: by.compared(a, b)[0],
    np.greater: lambda by, a, b: by.compared(a, b)[1],
}
"""What numpy is asked for -> how it is done exactly."""
