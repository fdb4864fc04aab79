"""Python's `random` and numpy's global functions, answered by a source while a function is audited."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from draftproof.simulators.audit.randomness.generator import Generator
from draftproof.simulators.audit.randomness.lazy import Coin
from draftproof.simulators.audit.randomness.sources import Seeded, Source
from draftproof.simulators.audit.randomness.world import NotEnumerable


class Random:
    """The methods of `random.Random` over a source."""

    def __init__(self, source: Source):
        self._source, self._rng = source, Generator(source)

    def random(self) -> Any:
        return self._source.uniform()

    def uniform(self, a: float, b: float) -> Any:
        return a + (b - a) * self._source.uniform()

    def expovariate(self, lambd: float = 1.0) -> Any:
        return self._rng.exponential(1 / lambd)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        options = range(start) if stop is None else range(start, stop, step)
        return options[self._rng.integers(len(options))]

    def randint(self, a: int, b: int) -> int:
        return self.randrange(a, b + 1)

    def choice(self, seq: Any) -> Any:
        return seq[self._rng.integers(len(seq))]

    def choices(
        self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> list[Any]:
        if cum_weights is not None:
            weights = np.diff(np.asarray(cum_weights, dtype=float), prepend=0.0)
        row = [1.0] * len(population) if weights is None else [float(x) for x in weights]
        if not sum(row) > 0:
            raise ValueError("Total of weights must be greater than zero")
        return [population[self._source.choose(row)] for _ in range(k)]

    def sample(self, population: Any, k: int) -> list[Any]:
        order = self._rng.permutation(len(population))
        return [population[i] for i in order[:k]]

    def shuffle(self, x: list[Any]) -> None:
        self._rng.shuffle(x)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotEnumerable(f"random.{name} has no exact account here")


class Current:
    """The source of the run in progress; `seed` makes the global streams seeded ones."""

    def __init__(self) -> None:
        self.source: Source | None = None
        self.streams: dict[str, Source] = {}

    def start(self, source: Source) -> None:
        self.source, self.streams = source, {}

    def stream(self, name: str) -> Source:
        assert self.source is not None
        return self.streams.get(name, self.source)

    def seed(self, name: str, value: Any) -> None:
        assert self.source is not None
        self.streams[name] = self.source if value is None else Seeded(self.source, (name, _key(value)))

    def seeded(self, name: str, value: Any) -> Source:
        assert self.source is not None
        return self.source if value is None else Seeded(self.source, (name, _key(value)))


def _key(value: Any) -> Any:
    return tuple(np.ravel(value).tolist()) if np.ndim(value) else value


_PYTHON = [
    "random",
    "uniform",
    "expovariate",
    "randrange",
    "randint",
    "choice",
    "choices",
    "sample",
    "shuffle",
    "gauss",
    "normalvariate",
    "betavariate",
    "gammavariate",
    "triangular",
    "getrandbits",
    "randbytes",
]
_NUMPY = [
    "uniform",
    "exponential",
    "standard_exponential",
    "gumbel",
    "choice",
    "multinomial",
    "permutation",
    "shuffle",
]
_REFUSED = [
    "normal",
    "standard_normal",
    "randn",
    "dirichlet",
    "beta",
    "gamma",
    "binomial",
    "poisson",
    "geometric",
    "bytes",
]


@contextmanager
def answered(current: Current, namespace: dict[str, Any]) -> Iterator[None]:
    """Puts stand-ins for `random.*` and `numpy.random.*` in place, also under names that the
    audited function's module imported; everything is as before afterwards.
    """
    swaps: list[tuple[Any, str, Any]] = [(random, name, _python(current, name)) for name in _PYTHON]
    swaps += [(random, "seed", lambda a=None, version=2: current.seed("random", a))]
    swaps += [(random, "Random", lambda x=None: Random(current.seeded("Random", x)))]
    swaps += [(np.random, name, _numpy(current, name)) for name in (*_NUMPY, *_REFUSED)]
    for name in ("random", "random_sample", "ranf", "sample"):
        swaps.append((np.random, name, lambda size=None: _now(current).random(size)))
    swaps += [(np.random, "rand", lambda *shape: _now(current).random(shape or None))]
    swaps += [(np.random, "randint", lambda *a, **k: _now(current).integers(*a, **k))]
    swaps += [(np.random, "seed", lambda seed=None: current.seed("numpy", seed))]
    swaps += [(np.random, "default_rng", lambda seed=None: _generator(current, seed))]
    swaps += [(np.random, "RandomState", lambda seed=None: _generator(current, seed))]
    originals = [
        (place, name, getattr(place, name), new) for place, name, new in swaps if hasattr(place, name)
    ]
    known = {id(old): new for _, _, old, new in originals}
    imported = {key: value for key, value in namespace.items() if id(value) in known}
    keeps_float = "float" in namespace
    try:
        if not keeps_float:
            namespace["float"] = _Float  # float(coin) is the coin
        for place, name, _, new in originals:
            setattr(place, name, new)
        for key, value in imported.items():
            namespace[key] = known[id(value)]
        yield
    finally:
        namespace.update(imported)
        if not keeps_float:
            namespace.pop("float", None)
        for place, name, old, _ in originals:
            setattr(place, name, old)


class _IsFloat(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, float | Coin)


class _Float(float, metaclass=_IsFloat):
    """`float` as the audited module sees it."""

    def __new__(cls, value: Any = 0.0) -> Any:
        return value if isinstance(value, Coin) else float(value)


def _python(current: Current, name: str) -> Callable[..., Any]:
    return lambda *a, **k: getattr(Random(current.stream("random")), name)(*a, **k)


def _numpy(current: Current, name: str) -> Callable[..., Any]:
    return lambda *a, **k: getattr(_now(current), name)(*a, **k)


def _now(current: Current) -> Generator:
    return Generator(current.stream("numpy"))


def _generator(current: Current, seed: Any) -> Generator:
    return seed if isinstance(seed, Generator) else Generator(current.seeded("numpy.random", seed))
