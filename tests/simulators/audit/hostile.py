"""Functions whose verdict is easily wrong: hidden seeds, rare paths, endless results.

`BAD` are not lossless (or have no law), `GOOD` are; the test asks that no bad one is called lossless, no good
one not lossless, and that everything ends.
"""

import os
import random
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

BAD, GOOD, ENDLESS = {}, {}, {}
KEPT = []


def into(group, name=""):
    def add(function):
        group[name or function.__name__] = function
        return function

    return add


def token(p, q, x, uniform, choose):
    for i, t in enumerate(x):
        if not uniform() * q[i, t] < p[i, t]:
            rest = np.maximum(p[i] - q[i], 0)
            rest = rest if rest.any() else p[i]
            return [*x[:i], choose(rest / rest.sum())]
    return [*x, choose(p[-1] / p[-1].sum())]


def by_numpy(p, q, x, rng):
    return token(p, q, x, rng.random, lambda row: int(rng.choice(len(row), p=row)))


def by_state(p, q, x, state):
    return token(p, q, x, state.random_sample, lambda row: int(state.choice(len(row), p=row)))


def by_python(p, q, x, rng):
    return token(p, q, x, rng.random, lambda row: rng.choices(range(len(row)), row)[0])


# Seeds: constants, and made from the arguments. What is made -> how it is used.

SEEDS = {
    "constant": lambda p, q, x: 0,
    "list": lambda p, q, x: [3, 4],
    "tokens": lambda p, q, x: int(x.sum()),
    "hash of the tokens": lambda p, q, x: abs(hash(tuple(x.tolist()))) % 2**32,
    "length": lambda p, q, x: len(x),
    "last token": lambda p, q, x: int(x[-1]),
    "large constant": lambda p, q, x: 2**31 - 1,
    "rows": lambda p, q, x: int(p[0, 0] * 10**6),
}


def scalar(seed):
    return sum(seed) if isinstance(seed, list) else seed


def seeded_globally(p, q, x, seed):
    np.random.seed(scalar(seed))
    return by_state(p, q, x, np.random)


def seeded_python(p, q, x, seed):
    random.seed(scalar(seed))
    return by_python(p, q, x, random)


GENERATORS = {
    "default_rng": lambda p, q, x, seed: by_numpy(p, q, x, np.random.default_rng(seed)),
    "SeedSequence": lambda p, q, x, seed: by_numpy(
        p, q, x, np.random.default_rng(np.random.SeedSequence(seed))
    ),
    "PCG64": lambda p, q, x, seed: by_numpy(p, q, x, np.random.Generator(np.random.PCG64(seed))),
    "Philox": lambda p, q, x, seed: by_numpy(p, q, x, np.random.Generator(np.random.Philox(seed))),
    "MT19937": lambda p, q, x, seed: by_numpy(p, q, x, np.random.Generator(np.random.MT19937(seed))),
    "RandomState": lambda p, q, x, seed: by_state(p, q, x, np.random.RandomState(seed)),
    "numpy.random.seed": seeded_globally,
    "random.Random": lambda p, q, x, seed: by_python(p, q, x, random.Random(scalar(seed))),
    "random.seed": seeded_python,
}

for _how, _use in GENERATORS.items():
    for _what, _seed in SEEDS.items():

        @into(BAD, f"{_how}, seed: {_what}")
        def seeded(p, q, x, use=_use, seed=_seed):
            return use(p, q, x, seed(p, q, x))


# Special rows at one position; elsewhere the rule is right.

ROWS = {
    "equal": lambda p, q: bool((p == q).all()),
    "disjoint": lambda p, q: not (p * q).any(),
    "two zeros": lambda p, q: (p == 0).sum() >= 2,
    "zero of q": lambda p, q: bool(((q == 0) & (p > 0)).any()),
    "zero of p": lambda p, q: bool(((p == 0) & (q > 0)).any()),
    "uniform p": lambda p, q: bool((p == p[0]).all()),
    "uniform q": lambda p, q: bool((q == q[0]).all()),
    "peaked p": lambda p, q: bool(p.max() > 0.999),
    "one-hot q": lambda p, q: bool(q.max() == 1),
}

for _what, _special in ROWS.items():
    for _at in (0, 1):

        @into(BAD, f"{_what} at {_at}")
        def special(p, q, x, rng, special=_special, at=_at):
            others = (i for i in range(len(x)) if i != at)
            if len(x) > at and special(p[at], q[at]) and not any(special(p[i], q[i]) for i in others):
                return [*x[:at], int(p[at].argmin())]
            return by_numpy(p, q, x, rng)


for _what, _special in list(ROWS.items())[:4:2]:

    @into(BAD, f"{_what}, extra row")
    def special_extra(p, q, x, rng, special=_special):
        if special(p[-1], q[-1]) and len(x) == 2 and not special(p[0], q[0]):
            return [*x[:1], 0]
        return by_numpy(p, q, x, rng)


@into(BAD)
def only_after_one_node(p, q, x, rng):
    if len(x) == 2 and x[0] == 2 and p[0, 0] == q[0, -1] and (p[1] == q[1]).all():
        return [2, int(p[1].argmax())]
    return by_numpy(p, q, x, rng)


# Sizes beyond the bounds, one row of one position, and state.


@into(BAD)
def four_tokens(p, q, x, rng):
    return [int(p[0].argmax())] if p.shape[1] == 4 else by_numpy(p, q, x, rng)


@into(BAD)
def three_drafted(p, q, x, rng):
    return [int(p[0].argmax())] if len(x) == 3 else by_numpy(p, q, x, rng)


@into(BAD)
def third_too_seldom(p, q, x, rng):
    if len(x) == 3:
        return by_numpy(p, q * np.array([[1.0], [1.0], [1.2]]), x, rng)
    return by_numpy(p, q, x, rng)


for _after in (0, 1, 2):

    @into(BAD, f"equal rows after {_after} alone")
    def after_one_node(p, q, x, rng, after=_after):
        if len(x) == 2 and x[0] == after and (p[1] == q[1]).all() and not (p[0] == q[0]).all():
            return [after, int(p[1].argmax())]
        return by_numpy(p, q, x, rng)


class SecondCall:
    """Right in its first call."""

    def __init__(self):
        self.calls = 0

    def __call__(self, p, q, x, rng):
        self.calls += 1
        return [int(p[0].argmax())] if self.calls == 2 else by_numpy(p, q, x, rng)


BAD["second call"] = SecondCall


# Chance that is not handed in.

SYSTEM = random.SystemRandom()


@into(BAD)
def entropy_on_a_rare_path(p, q, x, rng):
    if len(x) > 1 and x[0] == x[1] == 1 and os.urandom(1)[0] < 128:
        return [0]
    return by_numpy(p, q, x, rng)


@into(BAD)
def entropy_by_a_kept_name(p, q, x, rng):
    return [0] if SYSTEM.random() < 0.3 else by_numpy(p, q, x, rng)


@into(BAD)
def device(p, q, x, rng):
    with Path("/dev/urandom").open("rb") as file:
        return [0] if file.read(1)[0] < 64 else by_numpy(p, q, x, rng)


@into(BAD)
def clock(p, q, x, rng):
    return [0] if time.perf_counter_ns() // 64 % 3 == 0 else by_numpy(p, q, x, rng)


@into(BAD)
def kept_calls(p, q, x, rng):
    KEPT.append(len(x))
    return [0] if len(KEPT) % 7 == 0 else by_numpy(p, q, x, rng)


@into(BAD)
def copies_the_process(p, q, x, rng):
    if os.fork() == 0:
        os._exit(0)
    return by_numpy(p, q, x, rng)


# Exceptions and results that are hard to show.


class Own(BaseException):
    """Not an Exception."""


class Unsaid(Exception):
    def __str__(self):
        raise ValueError("no words")

    __repr__ = __str__


class UnsaidList(list):
    def __repr__(self):
        raise ValueError("no words")


class UnsaidText(str):
    def __repr__(self):
        raise ValueError("no words")


class Detached:
    @property
    def detach(self):
        raise RuntimeError("no")


RAISED = {
    "own": Own("x"),
    "unsaid": Unsaid(),
    "unsaid inside": TypeError(Unsaid()),
    "surrogate": ValueError("\ud800"),
    "generator": GeneratorExit(),
    "exit": SystemExit(Unsaid()),
    "stop": StopIteration(3),
    "group": BaseExceptionGroup("g", [Own(), Unsaid()]),
}
RETURNED = {
    "unsaid list": UnsaidList(["a"]),
    "unsaid text": UnsaidText("a"),
    "no detach": Detached(),
    "large number": [10**400],
    "many": range(10**9),
    "nothing": None,
    "nested": [[[0]]],
    "negative": [-1],
    "fraction": [0.5],
    "set": {0},
    "mapping": {0: 0},
    "bytes": b"\x00",
    "truth": [True],
}

for _name, _error in RAISED.items():

    @into(BAD, f"raises {_name}")
    def raises(p, q, x, rng, error=_error):
        raise error


for _name, _result in RETURNED.items():

    @into(BAD, f"returns {_name}")
    def returns(p, q, x, rng, result=_result):
        return result


# What never ends.


def forever(*_, **__):
    while True:
        pass


def endless(method, base=object, *arguments):
    return type(f"Endless{method}", (base,), {method: forever})(*arguments)


for _method, _base in (("__len__", object), ("__array__", object), ("__getattr__", object)):

    @into(ENDLESS, _method)
    def returns_endless(p, q, x, rng, method=_method, base=_base):
        return endless(method, base)


@into(ENDLESS)
def text_of_an_exception(p, q, x, rng):
    raise endless("__str__", Exception)


@into(ENDLESS)
def finaliser(p, q, x, rng):
    return endless("__del__", list, [0])


@into(ENDLESS)
def in_the_end(p, q, x, rng):
    try:
        raise ValueError
    finally:
        forever()


# Right ones, in unusual ways.

GENERATOR, STATE, PYTHON = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)


class Wrapped:
    def __init__(self, rng):
        self.rng = rng

    def random(self):
        return self.rng.random()

    def choice(self, size, p):
        return self.rng.choice(size, p=p)


class Subclass(random.Random):
    pass


WRAPPED, SUBCLASS = Wrapped(np.random.default_rng(1)), Subclass(4)

for _how in ("default_rng", "RandomState", "numpy.random.seed", "random.Random", "random.seed"):

    @into(GOOD, f"{_how}, seed drawn")
    def drawn_seed(p, q, x, rng, use=GENERATORS[_how]):
        return use(p, q, x, int(rng.integers(2**31)))

    @into(GOOD, f"{_how}, small seed drawn")
    def small_seed(p, q, x, rng, use=GENERATORS[_how]):
        return use(p, q, x, int(rng.integers(20)))

    @into(GOOD, f"{_how}, seed of the clock")
    def clock_seed(p, q, x, use=GENERATORS[_how]):
        return use(p, q, x, time.time_ns() % 2**32)


@into(GOOD)
def spawned(p, q, x, rng):
    return by_numpy(p, q, x, rng.spawn(1)[0])


@into(GOOD)
def its_bits(p, q, x, rng):
    return by_numpy(p, q, x, np.random.Generator(rng.bit_generator))


@into(GOOD)
def unseeded(p, q, x):
    return by_numpy(p, q, x, np.random.default_rng())


@into(GOOD)
def unseeded_bits(p, q, x):
    return by_numpy(p, q, x, np.random.Generator(np.random.PCG64()))


@into(GOOD)
def of_the_module(p, q, x):
    return by_numpy(p, q, x, GENERATOR)


@into(GOOD)
def state_of_the_module(p, q, x):
    return by_state(p, q, x, STATE)


@into(GOOD)
def python_of_the_module(p, q, x):
    return by_python(p, q, x, PYTHON)


@into(GOOD)
def wrapped(p, q, x):
    return by_numpy(p, q, x, WRAPPED)


@into(GOOD)
def subclass(p, q, x):
    return by_python(p, q, x, SUBCLASS)


@into(GOOD)
def subclass_inside(p, q, x):
    return by_python(p, q, x, type("Inside", (random.Random,), {})())


@into(GOOD)
def system(p, q, x):
    return by_python(p, q, x, random.SystemRandom())


@into(GOOD)
def asks_what_it_is(p, q, x, rng):
    assert isinstance(rng, np.random.Generator)
    assert isinstance(np.random.RandomState(), np.random.RandomState)
    assert isinstance(random.Random(), random.Random)
    assert isinstance(rng, np.random.Generator | np.random.RandomState)
    return by_numpy(p, q, x, rng)


@into(GOOD)
def entropy(p, q, x):
    def uniform():
        return int.from_bytes(os.urandom(4), "big") / 2**32

    return token(p, q, x, uniform, lambda row: min(int((row.cumsum() <= uniform()).sum()), len(row) - 1))


@into(GOOD)
def closes_standard_output(p, q, x, rng):
    sys.stdout.close()
    return by_numpy(p, q, x, rng)


@into(GOOD)
def prints_surrogates(p, q, x, rng):
    print("\ud800")
    return by_numpy(p, q, x, rng)


class SeededOnce:
    """Its seed is given when it is made, and its generator then goes on."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, p, q, x):
        return by_numpy(p, q, x, self.rng)


GOOD["seeded once"] = SeededOnce

# Right, with numbers that are not followed: the run is made again with plain ones.

AS_NUMBERS = {
    "Fraction": lambda u: float(Fraction(u)),
    "hex": lambda u: float.fromhex(u.hex()),
    "ratio": lambda u: u.as_integer_ratio()[0] / u.as_integer_ratio()[1],
    "divmod": lambda u: divmod(u, 1)[1],
    "isnan": lambda u: 0.0 if np.isnan(u) else u,
    "is_integer": lambda u: u if not u.is_integer() else 0.0,
}

for _name, _made in AS_NUMBERS.items():

    @into(GOOD, f"coin by {_name}")
    def as_number(p, q, x, rng, made=_made):
        return token(p, q, x, lambda: made(rng.random()), lambda row: int(rng.choice(len(row), p=row)))
