"""Replaces generators during an audit, also those that the audited module made, and follows their seeds."""

import os
import random
import secrets
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.coin import Coin
from draftproof.simulators.audit.coins.sources import Seeded, Source
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.stand_ins.generators import (
    Generator,
    Random,
    RandomState,
    chance_of,
    copied,
)
from draftproof.simulators.support.sources import INSTALLED

_STATE = np.random.RandomState
_SALT = random.Random(0)
_URANDOM = os.urandom  # kept here, since it is replaced during an audit


class Current:
    """The source of the current run; `seed` replaces a global stream by a seeded one.

    A seed that comes again in another run is a constant, or made from the arguments: with it every call draws
    the same numbers, though here one run's draws are independent of another's. `constant` names it.
    """

    def __init__(self) -> None:
        self.source: Source | None = None
        self.streams: dict[str, Source] = {}
        self.constant, self.making = "", False  # making: an object is made, whose seed is given once
        self._run, self._met = 0, dict[Hashable, int]()
        self.salt = 0  # another number in every run, in addresses, hashes and the clock
        self.once: set[Hashable] = set()  # states of generators that were seeded when an object was made
        # State -> (seed, draws, run) of its stream:
        self._saved: dict[Hashable, tuple[Hashable, int, int]] = {}

    def start(self, source: Source) -> None:
        if source is not self.source:
            self._run += 1
            self.salt = _SALT.randrange(2**30)
            source.seeds = self
            torch = sys.modules.get("torch")
            if torch is not None:  # a state that no run had before
                torch.default_generator.manual_seed(2**40 + self._run)
        self.source, self.streams = source, {}

    def stream(self, name: str) -> Source:
        assert self.source is not None
        return self.streams.get(name, self.source)

    def seed(self, name: str, value: Any) -> None:
        self.streams[name] = self.seeded(name, value)

    def seeded(self, name: str, value: Any) -> Source:
        assert self.source is not None
        if isinstance(value, np.random.SeedSequence):
            value = (str(value.entropy), *value.spawn_key)
        key = tuple(np.ravel(value).tolist()) if np.ndim(value) else value
        if value is None:
            return self.source
        if isinstance(value, Coin):
            return Seeded(self.source, (name, int(value)))  # type: ignore[call-overload]
        stream = Seeded(self.source, (name, key))
        drawn = isinstance(value, int | np.integer) and int(value) in self.source.integers
        if not drawn and not self.making:
            stream.used = partial(self.met, (name, key), f"{name}({value!r:.40})")
        return stream

    def saved(self, name: str) -> tuple[Any, ...]:
        """The state of a global stream, as its library writes it. What is drawn from here on is remembered,
        since `restored` may go back to it.
        """
        assert self.source is not None
        number = 2**20 + len(self._saved)
        stream = self.streams.get(name)
        if not isinstance(stream, Seeded):
            stream = self.streams[name] = Seeded(self.source, ("state", number))
        words = np.full(624, number, dtype=np.uint32)
        state: Any = (3, (*words.tolist(), 624), None)
        if "numpy" in name:
            state = "MT19937", words, 624, 0, 0.0
        self._saved[_hashable(state)] = stream.seed, stream.drawn, self._run
        return state

    def restored(self, name: str, state: Any) -> None:
        """Goes back to a saved state. One of another run, or of a real generator, is a constant."""
        assert self.source is not None
        key = _hashable(state)
        seed, drawn, run = self._saved.get(key, (("state", key), 0, -1))
        stream = self.streams[name] = Seeded(self.source, seed)
        stream.drawn = drawn
        if run != self._run:
            what = f"{name.rpartition('.')[0]}, a state that was saved before"
            stream.used = partial(self.met, ("state", key), what)

    def met(self, key: Hashable, what: str) -> None:
        """The stream `key` is used in this run; it was seeded with a constant if another run used it, too."""
        if not self.making and key not in self.once and self._met.setdefault(key, self._run) != self._run:
            self.constant = what


def _hashable(state: Any) -> Hashable:
    # A generator's state as a key: numpy's has an array, and may be a dictionary.
    if isinstance(state, dict):
        state = state["bit_generator"], *state["state"].values()
    return tuple(tuple(np.ravel(part).tolist()) if np.ndim(part) else part for part in state[:3])


class _Made(type):
    """A class of generators during an audit: a call makes a stand-in; real ones are its instances, too."""

    real: type
    stand_in: type
    make: Callable[..., Any]
    base: type

    def __call__(cls, *a: Any, **k: Any) -> Any:
        if cls is not cls.base:
            raise NotEnumerable(f"a subclass of {cls.real.__name__} draws coins that cannot be followed")
        return cls.make(*a, **k)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (cls.real, cls.stand_in))


def _made(real: type, stand_in: type, make: Callable[..., Any]) -> type:
    found = _Made(real.__name__, (), {"real": real, "stand_in": stand_in, "make": staticmethod(make)})
    found.base = found
    return found


@contextmanager
def swapped(changes: Iterable[tuple[Any, str, Any]]) -> Iterator[None]:
    """Sets attributes, given as (object, name, value), and restores them afterwards."""
    before = [(place, name, getattr(place, name), new) for place, name, new in changes]
    try:
        for place, name, _, new in before:
            setattr(place, name, new)
        yield
    finally:
        for place, name, old, _ in reversed(before):
            setattr(place, name, old)


@contextmanager
def answered(current: Current, namespace: dict[str, Any]) -> Iterator[None]:
    """While entered, replaces `random.*`, `numpy.random.*` and `secrets.*` by stand-ins, including names that
    the audited function's module and others imported, and the modules' own generators. What addresses,
    hashes of text and the clock say differs from run to run, so that a result made of them does not recur.
    """

    def method(stream: str, kind: type, name: str) -> Callable[..., Any]:
        return lambda *a, **k: getattr(kind(current.stream(stream)), name)(*a, **k)

    def made(kind: Any, name: str) -> Callable[..., Any]:
        return lambda seed=None: seed if isinstance(seed, Generator) else kind(current.seeded(name, seed))

    def system(_: Any = None) -> Random:
        return Random(current.stream("secrets"))

    def unseen(*a: Any, **k: Any) -> Any:
        if current.source is None or chance_of(current.source) is not None:
            return _URANDOM(*a, **k)
        raise NotEnumerable("it draws from os.urandom, which cannot be followed; pass it an rng")

    kept = {"seed", "getstate", "setstate", "get_state", "set_state"}
    changes = [
        (module, name, method(stream, stand_in, name))
        for module, kind, stand_in, stream in (
            (random, random.Random, Random, "random.seed"),
            (np.random, _STATE, RandomState, "numpy.random.seed"),
        )
        for name in dir(kind)
        if not name.startswith("_") and name not in kept and callable(getattr(kind, name))
    ]
    changes += [
        *((secrets, name, method("secrets", Random, name)) for name in ("choice", "randbelow")),
        (secrets, "randbits", method("secrets", Random, "getrandbits")),
        (secrets, "token_bytes", method("secrets", Random, "randbytes")),
        (random, "getstate", lambda: current.saved("random.seed")),
        (random, "setstate", lambda state: current.restored("random.seed", state)),
        (np.random, "get_state", lambda legacy=True: current.saved("numpy.random.seed")),
        (np.random, "set_state", lambda state: current.restored("numpy.random.seed", state)),
        (random, "seed", lambda a=None, version=2: current.seed("random.seed", a)),
        (random, "Random", _made(random.Random, Random, made(Random, "random.Random"))),
        (random, "SystemRandom", _made(random.SystemRandom, Random, system)),
        *((place, name, unseen) for place, name in ((os, "urandom"), (random, "_urandom"))),
        *((np.random, old, method("numpy.random.seed", RandomState, "random")) for old in ("ranf", "sample")),
        (np.random, "seed", lambda seed=None: current.seed("numpy.random.seed", seed)),
        (np.random, "default_rng", made(Generator, "default_rng")),
        (np.random, "RandomState", _made(_STATE, RandomState, made(RandomState, "RandomState"))),
    ]
    clocks = (("time", 1e-6), ("perf_counter", 1e-6), ("time_ns", 1), ("perf_counter_ns", 1))
    changes += [(time, name, _shifted(getattr(time, name), unit, current)) for name, unit in clocks]
    changes = [each for each in changes if hasattr(*each[:2])]
    new_of = {id(getattr(place, name)): new for place, name, new in changes}
    own = {
        "float": _Float,  # float(coin) is the coin
        "id": lambda value: id(value) + 16 * current.salt,
        "hash": lambda value: hash(value) + current.salt * isinstance(value, str | bytes),
    }
    before: list[tuple[dict[str, Any], dict[str, Any], set[str]]] = []
    try:
        with swapped(changes):
            for names, installed in _namespaces(namespace):
                replaced = {key: new for key, value in names.items() if (new := _new(current, new_of, value))}
                if not installed:
                    replaced |= {key: value for key, value in own.items() if key not in names}
                old = {key: names[key] for key in replaced if key in names}
                before.append((names, old, replaced.keys() - old.keys()))
                names.update(replaced)
            yield
    finally:
        for names, old, added in before:
            names.update(old)
            for key in added:
                names.pop(key, None)


def _shifted(clock: Callable[[], Any], unit: float, current: Current) -> Callable[[], Any]:
    return lambda: clock() + unit * current.salt


_SKIPPED = {*sys.stdlib_module_names, "numpy", "scipy", "torch", "draftproof"} - {"__main__"}


def _namespaces(own: dict[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    # The globals of the audited module, and of the others that could hold a generator; whether installed.
    yield own, False
    for name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        if name.partition(".")[0] not in _SKIPPED and names is not own and type(names) is dict:
            file = names.get("__file__")
            yield names, not isinstance(file, str) or bool(INSTALLED & {*Path(file).parts})


def _new(current: Current, new_of: dict[int, Any], value: Any) -> Any:
    # What stands in for a value of a module during an audit; None for most.
    if id(value) in new_of:
        return new_of[id(value)]
    kind = stand_in_of(value)
    if kind is not None:
        return _Own(current, kind)
    if type(value).__name__ == "ScriptFunction":  # the function that torch.jit.script compiled
        return getattr(value, "_torchdynamo_inline", None)
    return None


_KINDS = {
    np.random.Generator: Generator,
    np.random.RandomState: RandomState,
    random.Random: Random,
    random.SystemRandom: Random,
}


def stand_in_of(value: Any) -> type | None:
    """The class of stand-ins for a real generator; None for other values."""
    return _KINDS.get(type(value))


class _Own:
    """The stand-in for a generator that the audited module made: a stream of the current run."""

    def __init__(self, current: Current, kind: type):
        self._current, self._kind = current, kind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kind(self._current.stream("own")), name)

    __reduce_ex__ = copied


class _IsFloat(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, float | Coin)


class _Float(float, metaclass=_IsFloat):
    """`float` as the audited module sees it."""

    def __new__(cls, value: Any = 0.0) -> Any:
        if hasattr(value, "data_ptr"):
            value = value.item()  # a tensor's float() could not return a coin
        return value if isinstance(value, Coin) else float(value)
