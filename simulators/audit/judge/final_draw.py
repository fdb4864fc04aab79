"""The law of a verifier's final draw at a real vocabulary, counted over all values of its random numbers.

Nothing is drafted, so the token follows p. Of one number the token is a monotone function, and bisection
finds where each token ends. V numbers are a race: on a row with one likely token and equal others it is asked
which words of one token win against which of another, and their independence gives the law.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.coins.sources import Words
from draftproof.simulators.audit.coins.state import NotEnumerable, dyadic
from draftproof.simulators.audit.sandbox import Sandbox
from draftproof.simulators.audit.targets.base import DraftVerifier
from draftproof.theory.draft import Draft, Node
from draftproof.theory.numbers import ZERO
from draftproof.theory.table import Table

LIMIT = fmpq(1, 10**6)  # largest total variation that is accepted
FINE, RACE = 44, 24  # bits to which the end of a token is sought; bits of the numbers of a race
RARE = 1e-18  # what wins more rarely is left out


class Counted(NamedTuple):
    """The total variation between a final draw's law and its row, known up to `within`; the number and the
    mass of tokens never drawn; and how many numbers of how many bits it takes.
    """

    total_variation: fmpq
    within: fmpq
    never: int
    mass: float
    numbers: int
    bits: int

    def __str__(self) -> str:
        return (
            f"total variation {float(self.total_variation):.4g} of the final draw, counted within "
            f"{float(self.within):.1g}; at most {float(LIMIT):.0e} is accepted\n  numbers: {self.numbers:,} "
            f"of {self.bits} bits; never drawn: {self.never:,} tokens with {self.mass:.3g} of the mass"
        )


def final_draw(target: DraftVerifier, sandbox: Sandbox, vocab: int) -> Counted:
    """Counts the final draw: of one number on a row of which half is even and half falls; of a race on one
    with half on token 0. Raises NotEnumerable for any other.
    """
    asked: list[tuple[int, int]] = []
    sandbox.observer.progress(0, vocab, "a final draw")

    def drawing(row: np.ndarray) -> Callable[[Any], int]:
        prepared = target.prepare(Table(vocab, {(): row}), Draft(Node((), None)))

        def draw(words: Any) -> int:
            source = Words(np.asarray(words))
            target.reset()
            (token,) = target.call(sandbox, source, prepared)
            asked[:] = source.asked
            return token

        return draw

    even, falling = np.full(vocab // 2, 1 / vocab), np.arange(1.0, vocab - vocab // 2 + 1) ** -1.2
    row = np.append(even, (1 - even.sum()) * falling / falling.sum())
    draw = drawing(row)
    draw(0)
    if [count for count, _ in asked] == [1]:
        read = row.astype("float64" if target.dtype == "float64" else "float32")
        return _of_one(draw, read.astype(np.float64), asked[0][1], sandbox)
    if asked != [(vocab, RACE)] or vocab < 1 << 12:
        numbers = ", then ".join(f"{count:,} of {bits} bits" for count, bits in asked) or "none"
        raise NotEnumerable(
            f"its final draw takes {numbers}; counted are one number, or V >= 4,096 of 24 bits"
        )
    return _of_race(drawing(np.append(0.5, np.full(vocab - 1, 0.5 / (vocab - 1)))), vocab)


def _of_one(draw: Callable[[int], int], row: np.ndarray, bits: int, sandbox: Sandbox) -> Counted:
    token, top, unit = lru_cache(maxsize=64)(draw), 1 << bits, 1 << max(bits - FINE, 0)
    law, reach = list(map(dyadic, row.tolist())), row.cumsum()
    whole, ends, drift = sum(law, ZERO), [0], 0
    for x, ideal in enumerate((reach * (top / reach[-1])).tolist()):
        ends.append(ends[-1])
        if ends[-1] < top and token(ends[-1]) <= x:
            ends[-1] = _first(lambda k, x=x: token(k) > x, ends[-2], int(ideal) + drift, top, unit)
            drift = ends[-1] - int(ideal)
        if x % 1000 == 0:
            sandbox.observer.progress(x, len(row), "a final draw")
    counts = np.diff(ends).tolist()
    pairs = [(mass / whole, count) for mass, count in zip(law, counts, strict=True)]
    apart = sum((abs(mass - fmpq(count, top)) for mass, count in pairs), ZERO)
    never = [float(mass) for mass, count in pairs if mass and not count]
    return Counted(apart / 2, fmpq(len(row) * (unit - 1), top), len(never), sum(never), 1, bits)


def _of_race(draw: Callable[[Any], int], vocab: int, bits: int = RACE) -> Counted:
    n, K = vocab - 1, 1 << bits
    small = draw(np.append([K // 2, 2], np.full(n - 1, K // 2))) == 1  # whether small words win

    def winner(**ranks: int) -> int:  # the best rank is 0; tokens that are not named have the last
        words = np.full(vocab, K - 1)
        words[:3] = [ranks.get(name, K - 1) for name in "abc"]
        return draw(words if small else K - 1 - words)

    earlier = winner(b=0, c=0) == 1  # whether the earlier of equal ones wins
    levels, t, lost = [], 0, 0
    while lost < K and (1 - t / K) ** n > RARE:  # `lost`: how many words of token 0 win against rank t
        ideal = -int(K * np.expm1(n * np.log1p(-(t + 0.5) / K)))
        lost = _first(lambda r, t=t: winner(a=r, b=t) != 0, lost - 1, ideal, K)
        end = t + 1  # of the ranks that are equal to t
        while (winner(b=end, c=t) == 1) if earlier else (winner(b=t, c=end) == 2):
            end += 1
        levels.append((t, end, lost))
        t = end
    begin, end, lost = np.array(levels).T / K
    part, law = (end - begin) * (1 - lost) * (1 - begin) ** (n - 1), np.empty(n)
    for i in range(n):  # i of the others must be worse, and the rest no better
        law[i] = part.sum()
        part *= (1 - end) / (1 - begin)
    apart, never = (abs(law - 0.5 / n).sum() + abs(0.5 - law.sum())) / 2, int((law == 0).sum())
    return Counted(dyadic(float(apart)), fmpq(1, 10**9), never, never * 0.5 / n, vocab, bits)


def _first(beyond: Callable[[int], bool], low: int, guess: int, top: int, unit: int = 1) -> int:
    """The first number above `low` that is `beyond`, as `top` is, up to `unit`; sought around a guess."""
    high, step = min(max(guess, low + 1), top), unit
    while high < top and not beyond(high):
        low, high, step = high, min(high + step, top), 2 * step
    step = unit
    while high - low > unit:
        middle = max(high - step, (low + high) // 2)
        low, high, step = (low, middle, 2 * step) if beyond(middle) else (middle, high, step)
    return high
