"""Python's `random` and `secrets`, numpy's global functions, and generators that a module made.

While a function is audited they are answered by a source.
"""

import random
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from draftproof.simulators.audit.randomness.generators import Generator, Random, RandomState
from draftproof.simulators.audit.randomness.lazy import Coin
from draftproof.simulators.audit.randomness.sources import Seeded, Source


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
        self.streams[name] = self.seeded(name, value)

    def seeded(self, name: str, value: Any) -> Source:
        assert self.source is not None
        key = tuple(np.ravel(value).tolist()) if np.ndim(value) else value
        return self.source if value is None else Seeded(self.source, (name, key))


@contextmanager
def answered(current: Current, namespace: dict[str, Any]) -> Iterator[None]:
    """Puts stand-ins for `random.*`, `numpy.random.*` and `secrets.*` in place, also under names that the
    audited function's module imported, and for the module's own generators; everything is as before
    afterwards.
    """
    swaps: list[tuple[Any, str, Any]] = []
    for module, kind, stand_in, name in (
        (random, random.Random, Random, "random"),
        (np.random, np.random.RandomState, RandomState, "numpy"),
    ):
        methods = [each for each in dir(kind) if not each.startswith("_") and callable(getattr(kind, each))]
        swaps += [
            (module, each, _method(current, name, stand_in, each))
            for each in methods
            if each not in ("seed", "getstate", "setstate", "get_state", "set_state")
        ]
    swaps += [
        (secrets, each, _method(current, "secrets", Random, method))
        for each, method in {
            "choice": "choice",
            "randbelow": "randbelow",
            "randbits": "getrandbits",
            "token_bytes": "randbytes",
        }.items()
    ]
    swaps += [
        (random, "seed", lambda a=None, version=2: current.seed("random", a)),
        (random, "Random", lambda x=None: Random(current.seeded("Random", x))),
        (random, "SystemRandom", lambda x=None: Random(current.stream("secrets"))),
        (np.random, "ranf", _method(current, "numpy", RandomState, "random")),
        (np.random, "sample", _method(current, "numpy", RandomState, "random")),
        (np.random, "seed", lambda seed=None: current.seed("numpy", seed)),
        (np.random, "default_rng", lambda seed=None: _made(current, Generator, seed)),
        (np.random, "RandomState", lambda seed=None: _made(current, RandomState, seed)),
    ]
    replaced: dict[str, Any] = {
        key: _Own(current, kind) for key, value in namespace.items() if (kind := stand_in_of(value))
    }
    originals = [
        (place, name, getattr(place, name), new) for place, name, new in swaps if hasattr(place, name)
    ]
    new_of = {id(old): new for _, _, old, new in originals}
    replaced |= {key: new_of[id(value)] for key, value in namespace.items() if id(value) in new_of}
    if "float" not in namespace:
        replaced["float"] = _Float  # float(coin) is the coin
    before = {key: namespace[key] for key in replaced if key in namespace}
    try:
        for place, name, _, new in originals:
            setattr(place, name, new)
        namespace.update(replaced)
        yield
    finally:
        for key in replaced.keys() - before.keys():
            namespace.pop(key, None)
        namespace.update(before)
        for place, name, old, _ in originals:
            setattr(place, name, old)


_KINDS = {
    np.random.Generator: Generator,
    np.random.RandomState: RandomState,
    random.Random: Random,
    random.SystemRandom: Random,
}


def stand_in_of(value: Any) -> type | None:
    """The class of stand-ins for a real generator; None for anything else."""
    return _KINDS.get(type(value))


class _Own:
    """The stand-in for a generator that the audited module made: a stream of the run in progress."""

    def __init__(self, current: Current, kind: type):
        self._current, self._kind = current, kind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kind(self._current.stream("own")), name)


class _IsFloat(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, float | Coin)


class _Float(float, metaclass=_IsFloat):
    """`float` as the audited module sees it."""

    def __new__(cls, value: Any = 0.0) -> Any:
        return value if isinstance(value, Coin) else float(value)


def _method(current: Current, stream: str, kind: type, name: str) -> Callable[..., Any]:
    return lambda *a, **k: getattr(kind(current.stream(stream)), name)(*a, **k)


def _made(current: Current, kind: type[Generator], seed: Any) -> Generator:
    return seed if isinstance(seed, Generator) else kind(current.seeded("numpy.random", seed))
