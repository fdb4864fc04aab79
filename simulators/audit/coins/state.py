"""The coins of one run: the constraints known so far, and how a comparison of coins is decided."""

from collections.abc import Callable
from math import log
from random import Random

from flint import fmpq

from draftproof.simulators.audit.coins.volumes import Interval, interval, products, race, weighted_sum
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.oracle import Oracle

CHOICES = 4_000  # largest number of comparisons per run, so that a loop that rejects coins ends
_ANY = Random(0)
CERTAIN = fmpq(1, 2**100)  # what is rarer never happens, such as a race won by a weight of 1e-38
NARROW, TRIES = fmpq(1, 2**18), 100  # narrower intervals are not sampled; most points tried


class NotEnumerable(BaseException):  # not an Exception, so that foreign code does not catch it
    """The function uses its coins in a way that cannot be enumerated exactly; the message says how."""


class Opaque(NotEnumerable):
    """A coin is needed as a plain number; `bisection` may still find the law."""


class CoinState:
    """The state of all coins in one run of a foreign function.

    A coin is a uniform in [0, 1), identified by its index and known to lie in an interval. Coins that were
    multiplied form a chain of products; coins that were compared with one another form a race of
    exponentials; coins that were added form a sum. A coin is in one chain, race or sum at most.
    The oracle decides every comparison by its probability given all earlier answers.
    """

    def __init__(self, oracle: Oracle):
        self.oracle = oracle
        self.boxes: list[Interval] = []
        self.seeds: dict[int, int] = {}  # integers made of coins that were needed as plain numbers
        self.integers: set[int] = set()
        self.off: dict[int, float] = {}  # coins of a race or product: how far their law is from the assumed
        self._chains: dict[int, _Chain | _Sum] = {}
        self._ratios: set[tuple[int, int, fmpq]] = set()
        self._racers: set[tuple[int, bool]] = set()
        self._questions = 0

    def coin(self) -> int:
        """The index of a new uniform."""
        self.boxes.append((ZERO, ONE))
        return len(self.boxes) - 1

    def choose(self, row: tuple[fmpq, ...]) -> int:
        """A token from a row of weights, which need not sum to 1."""
        self._count()
        mass = sum(row, ZERO)
        return self.oracle.choose(tuple(weight / mass for weight in row))

    def below(self, coin: int, cut: fmpq) -> bool:
        """Whether the coin lies below `cut`."""
        lo, hi = self.boxes[coin]
        if lo < cut < hi and coin in self.seeds:
            raise Opaque("an integer is turned into a plain number and then compared")
        if lo < cut < hi and self.off.get(coin):
            raise NotEnumerable("a coin with an epsilon is compared both with coins and with a number")
        if coin in self._chains or self._races(coin):
            return self._cut(self.boxes, coin, cut, lambda: self._probability(coin), _settled)
        return self._cut(self.boxes, coin, cut, lambda: self.boxes[coin][1] - self.boxes[coin][0])

    def seed(self, coin: int, value: Callable[[float], int]) -> int:
        """A plain number for an integer made from a coin, as a seed needs it: any value will do. Every
        such run is made again with another value.
        """
        if coin not in self.seeds:
            if self.boxes[coin] != (ZERO, ONE):
                raise Opaque("an integer is compared and then turned into a plain number")
            self.seeds[coin] = value(_ANY.random())
            self.integers.add(self.seeds[coin])
        return self.seeds[coin]

    def stands_for(self, coin: int, off: float) -> None:
        """The coin is used as a number whose law is within total variation `off` of the assumed one."""
        if self.off.setdefault(coin, off) != off or (off and self.boxes[coin] != (ZERO, ONE)):
            raise NotEnumerable("a coin is used both with an epsilon and without")

    def product_below(self, coins: tuple[int, ...], cut: fmpq) -> bool:
        """Whether the product of the coins lies below `cut`."""
        if cut <= ZERO or cut >= ONE:
            return cut >= ONE
        chain = self._chain(coins)
        return self._cut(chain.bounds, len(coins) - 1, cut, lambda: chain.volume(self.boxes))

    def sum_below(self, factors: dict[int, fmpq], cut: fmpq) -> bool:
        """Whether the sum of multiples of coins (coin -> factor, not 0) lies below `cut`."""
        coins, scale = tuple(sorted(factors)), abs(factors[min(factors)])
        new = _Sum(coins, tuple(factors[coin] / scale for coin in coins))
        tied = self._chains.get(coins[0], new)
        if not isinstance(tied, _Sum) or (tied.coins, tied.factors) != (new.coins, new.factors):
            raise NotEnumerable("a coin is in two different sums, or in a sum and a product")
        if any(self._chains.setdefault(coin, tied) is not tied or self._races(coin) for coin in coins):
            raise NotEnumerable("a coin is in two different sums, or both added and compared with another")
        return self._cut(tied.bounds, 0, cut / scale, lambda: tied.volume(self.boxes))

    def slower(self, a: int, b: int, ratio: fmpq, mirrored: tuple[bool, bool]) -> bool:
        """Whether E_a >= ratio E_b, E = -log u (of a mirrored coin -log(1 - u)), a and b two coins."""
        for coin, mirror in zip((a, b), mirrored, strict=True):
            if coin in self._chains:
                raise NotEnumerable("a coin is both compared with another and multiplied")
            if (coin, not mirror) in self._racers:
                raise NotEnumerable("a coin u is compared with others both as u and as 1 - u")
            self._racers.add((coin, mirror))
        yes, no = (a, b, ratio), (b, a, 1 / ratio)
        whole = self._volume({a, b})
        answer = self._accept(_settled(self._volume({a, b}, yes) / whole))
        self._ratios.add(yes if answer else no)
        return answer

    def point(self, random: Random) -> list[float] | None:
        """Values of all coins that agree with every answer given; None if none was found."""
        if any(hi - lo < NARROW for lo, hi in self.boxes):
            return None
        sides = [(float(lo), float(hi)) for lo, hi in self.boxes]
        for _ in range(TRIES):
            coins = [lo + (hi - lo) * random.uniform(0.05, 0.95) for lo, hi in sides]
            if self._allows(coins):
                return coins
        return None

    def _allows(self, coins: list[float]) -> bool:
        if not all(
            tied.allows(coins) for tied in {id(tied): tied for tied in self._chains.values()}.values()
        ):
            return False
        E = {coin: -log(1 - coins[coin] if mirror else coins[coin]) for coin, mirror in self._racers}
        return all(E[a] > float(ratio) * E[b] for a, b, ratio in self._ratios)

    def _cut(
        self,
        bounds: list[Interval],
        at: int,
        cut: fmpq,
        volume: Callable[[], fmpq],
        settled: Callable[[fmpq], fmpq] = lambda probability: probability,
    ) -> bool:
        # Whether the number of which one of the bounds is known lies below `cut`, which narrows that bound.
        lo, hi = bounds[at]
        if cut <= lo or cut >= hi:
            return cut >= hi
        whole = volume()
        bounds[at] = (lo, cut)
        low = self._accept(settled(volume() / whole))
        bounds[at] = (lo, cut) if low else (cut, hi)
        return low

    def _accept(self, probability: fmpq) -> bool:
        self._count()
        return self.oracle.accept(min(max(probability, ZERO), ONE))

    def _count(self) -> None:
        self._questions += 1
        if self._questions > CHOICES:
            raise NotEnumerable(f"one run makes more than {CHOICES:,} random choices")

    def _probability(self, coin: int) -> fmpq:  # of all constraints on a coin in a chain or a race
        chain = self._chains.get(coin)
        return chain.volume(self.boxes) if chain else self._volume({coin})

    def _races(self, coin: int) -> bool:
        return (coin, False) in self._racers or (coin, True) in self._racers

    def _volume(self, coins: set[int], *more: tuple[int, int, fmpq]) -> fmpq:
        # The probability of all constraints on these coins and the coins they were compared with.
        known = self._component(coins)
        tied = coins.union(*({a, b} for a, b, _ in known))
        boxes = (interval(coin, self.boxes[coin], mirror) for coin, mirror in self._racers if coin in tied)
        return race(known.union(more, *boxes))

    def _component(self, coins: set[int]) -> frozenset[tuple[int, int, fmpq]]:
        grown = True
        while grown:
            near = {c for a, b, _ in self._ratios if a in coins or b in coins for c in (a, b)}
            grown, coins = not near <= coins, coins | near
        return frozenset(each for each in self._ratios if each[0] in coins)

    def _chain(self, coins: tuple[int, ...]) -> "_Chain":
        if any(self._races(coin) for coin in coins):
            raise NotEnumerable("a coin is both compared with another and multiplied")
        chain = self._chains.get(coins[0]) or _Chain()
        if not isinstance(chain, _Chain):
            raise NotEnumerable("a coin is both added and multiplied")
        shared = min(len(chain.coins), len(coins))
        new = coins[shared:]
        continues = tuple(chain.coins[:shared]) == coins[:shared] and len(set(coins)) == len(coins)
        if not continues or any(coin in self._chains for coin in new):
            raise NotEnumerable("products of coins overlap without one continuing the other")
        for coin in new:
            chain.coins.append(coin)
            chain.bounds.append((ZERO, ONE))
            self._chains[coin] = chain
        return chain


class _Chain:
    """Coins u_1, u_2, .. with bounds on the products u_1, u_1 u_2, .."""

    def __init__(self) -> None:
        self.coins: list[int] = []
        self.bounds: list[Interval] = []

    def volume(self, boxes: list[Interval]) -> fmpq:
        return products(tuple(boxes[coin] for coin in self.coins), tuple(self.bounds))

    def allows(self, values: list[float]) -> bool:
        value = 1.0
        for coin, (lo, hi) in zip(self.coins, self.bounds, strict=True):
            value *= values[coin]
            if not float(lo) < value < float(hi):
                return False
        return True


class _Sum:
    """Coins u_1, u_2, .. with a bound on c_1 u_1 + c_2 u_2 + ..; the first c is 1 or -1."""

    def __init__(self, coins: tuple[int, ...], factors: tuple[fmpq, ...]):
        self.coins, self.factors = coins, factors
        lowest = sum((min(c, ZERO) for c in factors), ZERO)
        self.bounds: list[Interval] = [(lowest, lowest + sum(map(abs, factors), ZERO))]

    def volume(self, boxes: list[Interval]) -> fmpq:
        return weighted_sum(tuple(boxes[coin] for coin in self.coins), self.factors, self.bounds[0])

    def allows(self, values: list[float]) -> bool:
        value = sum(float(c) * values[coin] for coin, c in zip(self.coins, self.factors, strict=True))
        return float(self.bounds[0][0]) < value < float(self.bounds[0][1])


def _settled(probability: fmpq) -> fmpq:
    # Logarithms leave an error far below CERTAIN; rounding makes impossible and certain events exact.
    return ZERO if probability < CERTAIN else ONE if probability > 1 - CERTAIN else probability


def weights(row: object) -> tuple[fmpq, ...]:
    """The exact rational values of floats; BadInput for NaN, infinities and negative numbers."""
    if isinstance(row, tuple) and isinstance(row[0], fmpq):
        return row
    numbers = [float(x) for x in row]  # type: ignore[attr-defined]
    if not all(0 <= x < float("inf") for x in numbers) or not any(numbers):
        raise BadInput(f"cannot draw from the weights {numbers}")
    return tuple(map(dyadic, numbers))


def dyadic(x: float) -> fmpq:
    """The exact rational value of a finite float."""
    return fmpq(*float(x).as_integer_ratio())
