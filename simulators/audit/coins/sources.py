"""Sources of random numbers for a foreign function: enumeration, fixed coins, or a real generator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from random import Random
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.lazy import Lazy
from draftproof.simulators.audit.coins.state import CHOICES, CoinState, NotEnumerable, weights
from draftproof.theory.oracle import Oracle


class Source(ABC):
    """A stream of uniforms in [0, 1) and of draws from rows of weights; also used to draw drafts.

    `use` names the random function that asks, if its answer is not made of a uniform by inversion.
    """

    seeds: Any = None  # `replaced.Current`, which records seeded streams
    again = False  # its runs were made before, with the same coins
    mirrored = True  # an exponential is made from a plain coin u as -log(1 - u), as real generators do

    def __init__(self) -> None:
        self.keyed: dict[Hashable, Any] = {}  # answers of seeded streams, so that one seed repeats them
        self.integers: set[int] = set()  # drawn in this run, perhaps to be a seed

    @abstractmethod
    def uniform(self, kind: type = np.float64, use: Hashable = "") -> Any: ...
    @abstractmethod
    def choose(self, row: Any, use: Hashable = "") -> int: ...
    @property
    def past(self) -> frozenset[float]:
        """The numbers drawn in this run of which a seed may be made."""
        return frozenset(self.integers)

    def accept(self, probability: Any) -> bool:
        return bool(self.choose((1 - probability, probability)))


class Every(Source):
    """Lazy uniforms decided by an enumeration's oracle."""

    def __init__(self, oracle: Oracle):
        super().__init__()
        self.state = CoinState(oracle)
        self.integers = self.state.integers
        self.chosen: list[int] = []

    def uniform(self, kind: type = np.float64, use: Hashable = "") -> Any:
        return Lazy(self.state, self.state.coin(), kind)

    def choose(self, row: Any, use: Hashable = "") -> int:
        self.chosen.append(self.state.choose(weights(row)))
        return self.chosen[-1]

    def replay(self, random: Random) -> "Replay | None":
        """The same run with plain numbers as coins; None if no point is found that its answers allow."""
        coins = self.state.point(random)
        return None if coins is None else Replay(coins, self.chosen)


class Fixed(Source):
    """Given coins in order (the last is repeated if they run out); draws take the first or last token."""

    again = True

    def __init__(self, coins: Sequence[float], last: bool = False):
        super().__init__()
        self.coins, self.last, self.drawn = coins, last, 0

    @property
    def past(self) -> frozenset[float]:
        return frozenset({*self.integers, *self.coins[: self.drawn]})

    def uniform(self, kind: type = np.float64, use: Hashable = "") -> Any:
        coin = self.coins[min(self.drawn, len(self.coins) - 1)]
        self.drawn += 1
        if self.drawn > CHOICES:
            raise NotEnumerable(f"one run asks for more than {CHOICES:,} coins")
        return kind(min(coin, float(np.nextafter(kind(1), kind(0)))))

    def choose(self, row: Any, use: Hashable = "") -> int:
        possible = [x for x, weight in enumerate(weights(row)) if weight > 0]
        return possible[-1 if self.last else 0]


class Replay(Fixed):
    """Plain coins and choices of an enumerated run, by which its result is checked."""

    mirrored = False

    def __init__(self, coins: Sequence[float], chosen: Sequence[int]):
        super().__init__([*coins, 0.5])
        self.chosen = list(reversed(chosen))

    def choose(self, row: Any, use: Hashable = "") -> int:
        return self.chosen.pop() if self.chosen else super().choose(row)


class Chance(Source):
    """A real generator, for functions that cannot be enumerated."""

    def __init__(self, rng: np.random.Generator):
        super().__init__()
        self.rng = rng

    def uniform(self, kind: type = np.float64, use: Hashable = "") -> Any:
        if kind is np.float16:
            return kind(self.rng.random() // 2**-11 * 2**-11)
        return self.rng.random(dtype=kind)

    def choose(self, row: Any, use: Hashable = "") -> int:
        numbers = np.array([float(x) for x in row])
        if not (numbers >= 0).all() or not 0 < numbers.sum() < np.inf:
            weights(row)  # raises BadInput
        return int(self.rng.choice(len(numbers), p=numbers / numbers.sum()))


class Words(Source):
    """Given words k: a number is k 2^-24 as float32, k 2^-53 as float64; `asked` has how many numbers of how
    many bits each call took. An exponential is of a word from 1 on, as on a GPU.
    """

    def __init__(self, words: np.ndarray):
        super().__init__()
        self.words, self.asked, self.count = words, list[tuple[int, int]](), 1

    def block(self, one: Callable[[], Any], count: int) -> np.ndarray:
        """`count` numbers of that kind at once."""
        self.count = count
        return np.reshape(one(), count)

    def uniform(self, kind: type = np.float64, use: Hashable = "") -> Any:
        bits, count = 53 if kind is np.float64 else 24, self.count
        self.asked.append((count, bits))
        words, self.count = np.resize(self.words, count), 1
        words = np.maximum(words, 1) if any(each in str(use) for each in ("exponential", "gumbel")) else words
        numbers = (words * 0.5**bits).astype(kind)
        return numbers if count > 1 else numbers[0]

    def choose(self, row: Any, use: Hashable = "") -> int:
        """By numpy's inversion or, without replacement, by torch's race."""
        if use:
            noise = self.block(lambda: -np.log1p(-self.uniform(np.float32, "exponential")), len(row))
            return int(np.argmax(np.asarray(row, np.float32) / noise))
        reach = np.cumsum(row)
        return int(np.searchsorted(reach / reach[-1], self.uniform(), side="right"))


class Seeded(Source):
    """The stream of one seed: in each run its n-th answer is drawn once and then remembered."""

    def __init__(self, source: Source, seed: Hashable, drawn: int = 0):
        self.source, self.seed, self.drawn, self.keyed = source, seed, drawn, source.keyed
        self.integers, self.seeds, self.mirrored = source.integers, source.seeds, source.mirrored
        self.used: Callable[[], None] | None = None  # called at every draw

    @property
    def past(self) -> frozenset[float]:
        return self.source.past

    def remembered(self, make: Callable[[], Any], what: Hashable) -> Any:
        """The stream's next answer, which `make` draws if it is new; `what` names the call that asks.
        Raises NotEnumerable if another call had the same numbers: how the two depend is not known.
        """
        if self.used is not None:
            self.used()
        at = (self.seed, self.drawn)
        self.drawn += 1
        if at not in self.keyed:
            self.keyed[at] = what, make()
        known, answer = self.keyed[at]
        if known != what:
            raise NotEnumerable("two different random functions draw from the same state of a generator")
        return answer

    def uniform(self, kind: type = np.float64, use: Hashable = "") -> Any:
        return self.remembered(lambda: self.source.uniform(kind, use), (kind, use))

    def choose(self, row: Any, use: Hashable = "") -> int:
        # By inversion of one remembered uniform, as in real generators: another row gets the same coin.
        left = self.uniform(use=use) * sum(map(float, row))
        *possible, last = [x for x, weight in enumerate(weights(row)) if weight > 0]
        reach = accumulate(float(row[x]) for x in possible)
        return next((x for x, below in zip(possible, reach, strict=True) if left < below), last)
