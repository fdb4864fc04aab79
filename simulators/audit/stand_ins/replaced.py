"""Replaces generators during an audit, also those that the audited module made, and follows their seeds."""

import os
import random
import secrets
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from heapq import heappop, heappush
from inspect import stack
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.coin import Coin
from draftproof.simulators.audit.coins.lazy import Lazy
from draftproof.simulators.audit.coins.sources import Chance, Seeded, Source
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.stand_ins.generators import Generator, Random, RandomState, StandIn
from draftproof.simulators.support.load import INSTALLED

_STATE, _GENERATOR = np.random.RandomState, np.random.Generator
_SALT = random.Random(0)
SEED_OF_TORCH = 0x5EED_0F_70_12C4  # of runs that seed nothing; no seed that a caller takes
_URANDOM = os.urandom  # kept here, since it is replaced during an audit


class Current:
    """The source of the current run, and the stand-ins for generators that outlive a call.

    A seed that comes again in another run is a constant, or made from the arguments: with it every call draws
    the same numbers, though here one run's draws are independent of another's. `constant` names it. Seeds
    that differ between runs are made of the text (`of_text`): named coins, as a watermark's.
    """

    def __init__(self) -> None:
        self.source: Source | None = None
        self.constant, self.making = "", False  # making: an object is made, whose seed is given once
        self._again: set[Hashable] = set()  # streams of seeds that came again
        self._here: set[Hashable] = set()  # of those that were used in this run
        self._always: set[Hashable] | None = None  # and in all runs
        self._run = 0
        self._met: dict[Hashable, tuple[int, frozenset[float]]] = {}  # stream -> its first run, and the past
        self.salt = 0  # of hashes and the clock; another number whenever coins are given again
        self.once: set[Hashable] = set()  # states of generators that were seeded when an object was made
        self._lasting: list[StandIn] = []
        self.carried: frozenset[float] = frozenset()  # the past of the run that left torch's seed

    def start(self, source: Source) -> None:
        if source is self.source:
            return
        if self._here:
            self._always = self._here & (self._here if self._always is None else self._always)
        self._run, self._here = self._run + 1, set()
        if source.again:
            self.salt += _SALT.randrange(2**30)
        torch, self.carried = sys.modules.get("torch"), frozenset()
        if torch is not None:
            seed = torch.initial_seed()
            if seed != SEED_OF_TORCH and self.source and seed not in self.source.integers:
                self.carried = self.source.past  # a call has seeded it with a constant, which stays
            else:  # a state that no run had before, of the same seed
                torch.default_generator.manual_seed(SEED_OF_TORCH)
                state = torch.default_generator.get_state()
                state[24:28] = torch.tensor([*self._run.to_bytes(4, "little")], dtype=torch.uint8)
                torch.default_generator.set_state(state)
        source.keyed.clear()
        source.integers.clear()
        source.seeds, self.source = self, source
        for lasting in self._lasting:
            before, lasting._source = lasting._source, source
            if isinstance(before, Seeded) and before.used:  # a constant seed stays in place for the next call
                lasting._source = Seeded(source, before.seed, before.drawn)
                lasting._source.used = before.used

    def lasting(self, kind: Any) -> Any:
        """A stand-in for a generator that outlives a call: a stream of each run in turn."""
        self._lasting.append(kind(self.source))
        return self._lasting[-1]

    def seeded(self, kind: type, name: str, value: Any) -> Source:
        """The stream of a seed, for a stand-in of that kind; `name` is the function that was given it."""
        assert self.source is not None
        if value is None:
            return self.source
        if isinstance(value, np.random.BitGenerator):
            raise NotEnumerable(
                "it makes a generator of a bit generator; give numpy.random.default_rng the seed"
            )
        if isinstance(value, Lazy):
            return Seeded(self.source, (kind, value.coin, value.steps))
        value = int(value) if isinstance(value, Coin) else value
        key = _plain(value)
        stream = Seeded(self.source, (kind, key))
        drawn = len(key) == 1 and key[0] in self.source.integers
        if not drawn and not self.making:
            stream.used = partial(self.met, (kind, key), f"{name}({value!r:.40})", self.source.past)
        return stream

    def met(self, key: Hashable, what: str, past: frozenset[float]) -> None:
        """The stream `key` is used in this run, after these draws. It was seeded with a constant if another
        run used it too, unless they have a number in common of which the seed may be made.
        """
        if self.making or key in self.once:
            return
        self._here.add(key)
        run, before = self._met.setdefault(key, (self._run, past))
        if run != self._run:
            self._met[key] = run, before & past
            if not before & past:
                self.constant = what
                self._again.add(key)

    @property
    def of_text(self) -> bool:
        """Whether seeds that come again are not those of every run."""
        return bool(self._again - (self._always or set()))


def _plain(seed: Any) -> tuple[Any, ...]:
    # A seed as a key: numpy's take lists and arrays.
    if isinstance(seed, np.random.SeedSequence):
        return *_plain(seed.entropy), *(("child", child) for child in seed.spawn_key)
    return (seed,) if isinstance(seed, str | bytes) else tuple(np.ravel(seed).tolist())


class _Addresses:
    """`id` as a caller may meet it: an address that is free again goes to the next object, so that a cache
    by address finds what belongs to an object that is gone, of the same audit.
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[int, Any]] = {0: (0, object())}  # real address -> (number, its object)
        self._free: list[int] = []

    def of(self, value: Any, salt: int) -> int:
        """The number of an object, with the salt for plain ones, whose addresses real code may meet again at
        any time. One that nothing else holds any more, as the object at 0, is gone.
        """
        for real in [*islice(reversed(self._held), _LATEST)]:
            if real and sys.getrefcount(self._held[real][1]) <= sys.getrefcount(self._held[0][1]):
                heappush(self._free, self._held.pop(real)[0])
        if id(value) not in self._held:
            number = heappop(self._free) if self._free else 16 * next(_UNUSED)
            self._held[id(value)] = number, value
        return self._held[id(value)][0] + 16 * salt * (type(value).__weakrefoffset__ == 0)


_LATEST = 256  # objects of which one looks whether they are gone
_UNUSED = count(1)  # of addresses, so that no audit gives one of another's


class _Made(type):
    """A class of generators during an audit: a call makes a stand-in; real ones are its instances, too."""

    real: type
    stand_in: type
    make: Callable[..., Any]

    def __call__(cls, *a: Any, **k: Any) -> Any:
        if "real" not in vars(cls):
            raise NotEnumerable(f"a subclass of {cls.real.__name__} draws coins that cannot be followed")
        return cls.make(*a, **k)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (cls.real, cls.stand_in))


def _made(real: type, stand_in: type, make: Callable[..., Any]) -> type:
    return _Made(real.__name__, (), {"real": real, "stand_in": stand_in, "make": staticmethod(make)})


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
    the audited function's module and others imported, and the modules' own generators. What hashes of text
    and the clock say differs where a run is made again, so that a result made of them does not recur; of
    what addresses say, see `_Addresses`.
    """

    def method(own: StandIn, name: str) -> Callable[..., Any]:
        return lambda *a, **k: getattr(own, name)(*a, **k)

    def made(kind: Any, name: str) -> Callable[..., Any]:
        def make(seed: Any = None) -> Any:
            return seed if isinstance(seed, Generator) else kind(current.seeded(kind, name, seed))

        return make

    def of_bits(bits: Any) -> Any:
        if isinstance(current.source, Chance | None):
            return _GENERATOR(bits)
        return current.seeded(Generator, "Generator", bits)

    def unseen(*a: Any, **k: Any) -> Any:
        calls = takewhile(lambda call: call.function != "_once", stack(0))  # of the sandbox
        importing = any(call.filename == "<frozen importlib._bootstrap>" for call in calls)
        if importing or isinstance(current.source, Chance | None):  # a module may draw a key of its own once
            return _URANDOM(*a, **k)
        raise NotEnumerable("it draws from os.urandom, which cannot be followed; pass it an rng")

    addresses = _Addresses()
    python, numpys, secret = map(current.lasting, (Random, RandomState, Random))
    changes = [
        (module, name, method(own, name))
        for module, kind, own in ((random, random.Random, python), (np.random, _STATE, numpys))
        for name in (*dir(kind), "ranf", "sample")
        if not name.startswith("_") and callable(getattr(module, name, None))
    ]
    changes += [
        *((secrets, name, method(secret, name)) for name in ("choice", "randbelow")),
        (secrets, "randbits", method(secret, "getrandbits")),
        (secrets, "token_bytes", method(secret, "randbytes")),
        (random, "_inst", python),
        (np.random.mtrand, "_rand", numpys),
        (random, "Random", _made(random.Random, Random, made(Random, "random.Random"))),
        (random, "SystemRandom", _made(random.SystemRandom, Random, lambda _=None: made(Random, "")())),
        *((place, name, unseen) for place, name in ((os, "urandom"), (random, "_urandom"))),
        (np.random, "default_rng", made(Generator, "default_rng")),
        (np.random, "Generator", _made(_GENERATOR, Generator, of_bits)),
        (np.random, "RandomState", _made(_STATE, RandomState, made(RandomState, "RandomState"))),
    ]

    def shifted(clock: Callable[[], Any], unit: float) -> Callable[[], Any]:
        return lambda: clock() + unit * current.salt

    clocks = (("time", 1e-6), ("perf_counter", 1e-6), ("time_ns", 1), ("perf_counter_ns", 1))
    changes += [(time, name, shifted(getattr(time, name), unit)) for name, unit in clocks]
    changes = [each for each in changes if hasattr(*each[:2])]
    new_of = {id(getattr(place, name)): new for place, name, new in changes}
    own = {
        "float": _Float,  # float(coin) is the coin
        "id": lambda value: addresses.of(value, current.salt),
        "hash": lambda value: hash(value) + current.salt * isinstance(value, str | bytes),
    }
    with ExitStack() as undo, swapped(changes):
        for names, installed in _namespaces(namespace):
            replaced = {key: new for key, value in names.items() if (new := _new(current, new_of, value))}
            if not installed:
                replaced |= {key: value for key, value in own.items() if key not in names}
            for key in replaced:
                if key in names:
                    undo.callback(names.__setitem__, key, names[key])
                else:
                    undo.callback(names.pop, key, None)
            names.update(replaced)
        yield


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
    kind = STAND_INS.get(type(value))
    if kind is not None:
        return new_of.setdefault(id(value), current.lasting(kind))
    # In place of a compiled function the Python one, as torch.jit.script and numba keep it.
    compiled = {"ScriptFunction": "_torchdynamo_inline", "CPUDispatcher": "py_func"}.get(type(value).__name__)
    return getattr(value, compiled, None) if compiled else None


STAND_INS = {each.real: each for each in (Generator, RandomState, Random)} | {random.SystemRandom: Random}
"""The classes of real generators -> those of their stand-ins."""


class _IsFloat(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, float | Coin)


class _Float(float, metaclass=_IsFloat):
    """`float` as the audited module sees it."""

    def __new__(cls, value: Any = 0.0) -> Any:
        if hasattr(value, "data_ptr"):
            value = value.item()  # a tensor's float() could not return a coin
        return value if isinstance(value, Coin) else float(value)
