"""The coins of one run: the constraints known so far, and how a comparison of coins is decided."""

from collections.abc import Callable
from math import log
from random import Random

from flint import fmpq

from draftproof.simulators.audit.coins.volumes import Interval, products, race
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
    exponentials. A coin is in one chain or race at most.
    The oracle decides every comparison by its probability given all earlier answers.
    """

    def __init__(self, oracle: Oracle):
        self.oracle = oracle
        self.boxes: list[Interval] = []
        self.seeds: dict[int, int] = {}  # integers made of coins that were needed as plain numbers
        self.integers: set[int] = set()
        self.off: dict[int, float] = {}  # coins of a race or product: how far their law is from the assumed
        self._chains: dict[int, _Chain] = {}
        self._ratios: set[tuple[int, int, fmpq]] = set()
        self._racers: dict[int, bool] = {}  # coin -> whether it stands for 1 - u
        self._questions = 0
        self.ended = False  # the run is over: its coins are of an earlier call

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
        self._live()
        lo, hi = self.boxes[coin]
        if cut <= lo or cut >= hi:
            return cut >= hi
        if coin in self.seeds:
            raise Opaque("an integer is turned into a plain number and then compared")
        if coin in self._racers:
            raise NotEnumerable("a coin is compared both with coins and with a number")
        chain = self._chains.get(coin)
        if chain is not None:
            return self._cut(self.boxes, coin, cut, lambda: chain.volume(self.boxes), _settled)
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
        self._live()
        if cut <= ZERO or cut >= ONE:
            return cut >= ONE
        chain = self._chain(coins)
        return self._cut(chain.bounds, len(coins) - 1, cut, lambda: chain.volume(self.boxes))

    def slower(self, a: int, b: int, ratio: fmpq, mirrored: tuple[bool, bool]) -> bool:
        """Whether E_a >= ratio E_b, E = -log u (of a mirrored coin -log(1 - u)), a and b two coins."""
        self._live()
        for coin, mirror in zip((a, b), mirrored, strict=True):
            if coin in self._chains or self.boxes[coin] != (ZERO, ONE):
                raise NotEnumerable("a coin is compared both with coins and with a number, or multiplied")
            if self._racers.setdefault(coin, mirror) != mirror:
                raise NotEnumerable("a coin u is compared with others both as u and as 1 - u")
        yes, no = (a, b, ratio), (b, a, 1 / ratio)
        known = self._component({a, b})
        answer = self._accept(_settled(race(known | {yes}) / race(known)))
        self._ratios.add(yes if answer else no)
        return answer

    def point(self, random: Random) -> list[float] | None:
        """Values of all coins that agree with every answer given; None if none was found."""
        if any(hi - lo < NARROW for lo, hi in self.boxes):
            return None
        sides, chains = [(float(lo), float(hi)) for lo, hi in self.boxes], {*self._chains.values()}
        for _ in range(TRIES):
            coins = [lo + (hi - lo) * random.uniform(0.05, 0.95) for lo, hi in sides]
            E = {at: -log(1 - coins[at] if mirror else coins[at]) for at, mirror in self._racers.items()}
            raced = all(E[a] > float(ratio) * E[b] for a, b, ratio in self._ratios)
            if raced and all(chain.allows(coins) for chain in chains):
                return coins
        return None

    def _live(self) -> None:
        if self.ended:
            raise NotEnumerable("it uses a random number that it drew in an earlier call")

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

    def _component(self, coins: set[int]) -> frozenset[tuple[int, int, fmpq]]:
        grown = True
        while grown:
            near = {c for a, b, _ in self._ratios if a in coins or b in coins for c in (a, b)}
            grown, coins = not near <= coins, coins | near
        return frozenset(each for each in self._ratios if each[0] in coins)

    def _chain(self, coins: tuple[int, ...]) -> "_Chain":
        if any(coin in self._racers for coin in coins):
            raise NotEnumerable("a coin is both compared with another and multiplied")
        chain = self._chains.get(coins[0]) or _Chain()
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
