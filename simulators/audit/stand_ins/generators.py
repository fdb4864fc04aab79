"""Stand-ins for numpy's and Python's random generators, which draw from a source."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.lazy import Integer, Lazy
from draftproof.simulators.audit.coins.sources import Chance, Fixed, Seeded, Source, Words
from draftproof.simulators.audit.coins.state import NotEnumerable

BRANCHES = 1_000  # values of a uniform integer, each a branch; one of more values is a coin

SEED_VALUES = 16  # an integer with fewer values is hardly a seed

_NUMPY = np.random.Generator(np.random.PCG64(0))


class Lazies(np.ndarray):
    """An object array of lazy numbers; a cast to another float type leaves it as it is."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else super().__array_wrap__(array, context, return_scalar)

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Any:
        if np.dtype(dtype).kind in "fO":
            return self
        return np.vectorize(int, otypes=[dtype])(self)


def attributes(*kinds: Any) -> dict[str, Any]:
    """What the classes or modules have, by name."""
    return {name: getattr(kind, name) for kind in kinds for name in dir(kind)}


class StandIn:
    """What all stand-ins are: of the class `real` for `isinstance`, over a source, never copied. A method of
    theirs without a stand-in may be read, as libraries do that are first imported during an audit, but not
    called, except for numpy's where random runs are tested.
    """

    real: Any
    called: str  # its name in messages
    known: dict[str, Any]  # what real ones have, before they are replaced
    __class__ = property(lambda self: self.real)  # type: ignore[assignment]

    def __init__(self, source: Source):
        self._source: Any = source

    def __reduce_ex__(self, *_: Any) -> Any:
        raise NotEnumerable("it copies or pickles a generator, which would draw the same numbers again")

    def __getattr__(self, name: str) -> Any:
        called = f"{self.called}.{name}"
        if name.startswith("__") or name not in self.known:
            raise AttributeError(called)
        if isinstance(self._source, Chance) and hasattr(self._source.rng, name):
            return getattr(self._source.rng, name)

        def cannot(*_: Any, **__: Any) -> Any:
            raise NotEnumerable(f"{called} cannot be enumerated here")

        return cannot if callable(self.known[name]) else cannot()


class Generator(StandIn):
    """numpy's methods, from uniforms and weighted draws; other methods raise NotEnumerable."""

    real, called = np.random.Generator, "rng"
    known = attributes(real, np.random.RandomState)

    def _many(self, one: Any, size: Any) -> Any:
        if size is None:
            return one()
        shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
        if isinstance(self._source, Words):
            return self._source.block(one, int(np.prod(shape))).reshape(shape)
        values = [one() for _ in range(int(np.prod(shape)))]
        if all(isinstance(value, float | np.floating) for value in values):
            return np.array(values).reshape(shape)
        return np.array(values, dtype=object).reshape(shape).view(Lazies)

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        if out is not None:
            raise NotEnumerable("random(out=...) writes coins into an array of floats")
        return self._many(lambda: self._source.uniform(np.dtype(dtype).type), size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        width = np.asarray(high) - low if np.ndim(high) or np.ndim(low) else high - low
        return self._affine(low, width, size, lambda source: source.uniform())

    def standard_exponential(self, size: Any = None, dtype: Any = np.float64, method: str = "zig") -> Any:
        return self._many(lambda: exponential(self._source, np.dtype(dtype).type), size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._affine(0.0, scale, size, exponential)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._affine(loc, scale, size, gumbel)

    def _affine(self, loc: Any, scale: Any, size: Any, draw: Callable[[Source], Any]) -> Any:
        if np.ndim(loc) or np.ndim(scale):
            size = size or np.broadcast(loc, scale).shape
            return loc + scale * self._many(lambda: draw(self._source), size)
        if (loc, scale) == (0, 1):
            return self._many(lambda: draw(self._source), size)
        return self._many(lambda: loc + scale * draw(self._source), size)

    def integers(
        self, low: int, high: int | None = None, size: Any = None, dtype: Any = int, endpoint: bool = False
    ) -> Any:
        low, high = (0, low) if high is None else (low, high)
        count = high + endpoint - low
        if count <= 0:
            raise ValueError("low >= high")
        if count > BRANCHES:
            return self._many(lambda: wide_integer(self._source, low, count), size)
        use = "integers", count
        drawn = self._draws(lambda: low + self._source.choose([1.0] * count, use), size)
        if count > SEED_VALUES:
            self._source.integers.update(np.ravel(drawn).tolist())
        return drawn

    def choice(
        self, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: int = 0, shuffle: Any = True
    ) -> Any:
        items = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        row = np.full(len(items), 1 / len(items)) if p is None else checked(p, len(items))
        if replace:
            index = self._draws(lambda: self._source.choose(row), size)
        else:
            count = 1 if size is None else size
            index = np.array(without_replacement(self._source, row, int(np.prod(count))), dtype=np.int64)
            index = index.reshape(count)
        chosen = items[index]
        return chosen.item() if size is None and np.ndim(chosen) == 0 else chosen

    def unread(self, count: int) -> None:
        """Says that the last `count` uniforms were not read, so that no law depends on them."""
        if isinstance(self._source, Fixed):
            self._source.drawn -= count

    def spawn(self, n_children: int) -> list["Generator"]:
        if isinstance(self._source, Seeded):
            raise NotEnumerable("a generator with a seed is spawned; spawn its SeedSequence")
        return [Generator(self._source) for _ in range(n_children)]

    def _draws(self, one: Any, size: Any) -> Any:
        return one() if size is None else np.array(self._many(one, size), dtype=np.int64)


class RandomState(Generator):
    """The methods of `numpy.random.RandomState`, which are also the functions of `numpy.random`."""

    real = np.random.RandomState
    random_sample = ranf = sample = Generator.random
    randint = Generator.integers

    def rand(self, *shape: int) -> Any:
        return self.random(shape or None)

    def seed(self, seed: Any = None) -> None:
        self._source = self._source.seeds.seeded(RandomState, "numpy.random.seed", seed)


class Random(StandIn):
    """The methods of `random.Random` over a source; Python's own code makes most of them of two."""

    real, called = random.Random, "random"
    known = attributes(random, real)
    uniform, choice, choices, sample = real.uniform, real.choice, real.choices, real.sample
    randrange, randint, shuffle = real.randrange, real.randint, real.shuffle

    def seed(self, a: Any = None, version: int = 2) -> None:
        self._source = self._source.seeds.seeded(Random, "random.seed", a)

    def random(self) -> Any:
        return self._source.uniform()

    def randbelow(self, n: int) -> int:
        return int(Generator(self._source).integers(n))

    _randbelow = randbelow

    def getrandbits(self, k: int) -> Any:
        return Generator(self._source).integers(2**k)


def wide_integer(source: Source, low: int, count: int) -> Any:
    """A uniform integer of many values, which is used as a seed."""
    u = source.uniform(use=("integers", count))
    if isinstance(u, Lazy):
        return Integer(u.state, u.coin, low, count)
    drawn = low + int(u * count)
    source.integers.add(drawn)
    return drawn


def without_replacement(source: Source, row: Any, count: int) -> list[int]:
    """Up to `count` distinct tokens drawn from a row of weights; fewer if the other weights are 0."""
    left, chosen = np.array(row, dtype=np.float64), []
    while len(chosen) < count and left.any():
        chosen.append(source.choose(left, ("without replacement", left.tobytes())))
        left[chosen[-1]] = 0.0
    return chosen


def exponential(source: Source, kind: type = np.float64, use: str = "exponential") -> Any:
    """An exponential from a new coin u: -log u of a lazy coin, -log(1 - u), never infinite, of a float."""
    u = source.uniform(kind, use)
    return -np.log1p(-u) if isinstance(u, np.floating | np.ndarray) and source.mirrored else -np.log(u)


def gumbel(source: Source, kind: type = np.float64) -> Any:
    """-log E of a new exponential E; a coin that gives E = 0 is drawn again, as in numpy."""
    E = exponential(source, kind, "gumbel")
    return -np.log(np.maximum(E, kind(2.0**-53)) if isinstance(E, np.floating | np.ndarray) else E)


def checked(p: Any, size: int) -> np.ndarray:
    """The row as floats; raises numpy's own error if `choice(p=...)` would refuse the row."""
    row = np.asarray(p)
    floats = row.astype(np.float64)
    _NUMPY.choice(size, p=row if row.dtype.kind == "f" else floats)  # numpy is stricter for wider types
    return floats
