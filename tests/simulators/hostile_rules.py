"""Verifiers that cannot be judged, each in its own way: r_ ask other things than the oracle, b_ return no stop,
e_ raise, l_ never end; a_ are functions on arrays.
"""

# ruff: noqa

import datetime
import itertools
import os
import random
import secrets
import time
import uuid

import click
import numpy as np
import pytest

from draftproof.theory.draft import Node

rng = np.random.default_rng()
legacy = np.random.RandomState()
own = random.Random()


def pick(draft, target, which):
    return draft.root, target[draft.root.prefix] if which else draft.root.proposal


def r_random(oracle, draft, target):
    return pick(draft, target, random.random() < 0.001)


def r_choice(oracle, draft, target):
    return pick(draft, target, random.choice([0] * 1000 + [1]))


def r_own(oracle, draft, target):
    return pick(draft, target, own.random() < 0.001)


def r_legacy(oracle, draft, target):
    return pick(draft, target, np.random.rand() < 0.001)


def r_state(oracle, draft, target):
    return pick(draft, target, legacy.rand() < 0.001)


def r_generator(oracle, draft, target):
    return pick(draft, target, rng.random() < 0.001)


def r_fresh(oracle, draft, target):
    return pick(draft, target, np.random.default_rng().random() < 0.001)


def r_default(oracle, draft, target, g=np.random.default_rng(3)):
    return pick(draft, target, g.random() < 0.001)


def closure():
    g = np.random.default_rng(4)

    def verify(oracle, draft, target):
        return pick(draft, target, g.random() < 0.001)

    return verify


r_closure = closure()


def r_secrets(oracle, draft, target):
    return pick(draft, target, secrets.randbelow(1000) == 0)


def r_urandom(oracle, draft, target):
    return pick(draft, target, os.urandom(2) == b"ab")


def r_uuid(oracle, draft, target):
    return pick(draft, target, uuid.uuid4().int % 1000 == 0)


def r_time(oracle, draft, target):
    return pick(draft, target, int(time.time()) % 2)


def r_now(oracle, draft, target):
    return pick(draft, target, datetime.datetime.now().second % 2)


def r_hash(oracle, draft, target):
    return pick(draft, target, hash("a") % 2)


torch = pytest.importorskip("torch")


def r_torch(oracle, draft, target):
    return pick(draft, target, float(torch.rand(())) < 0.001)


def r_id(oracle, draft, target):
    return pick(draft, target, id(draft.root) // 64 % 2)


count = itertools.count()


def r_late(oracle, draft, target):
    return pick(draft, target, next(count) < 30)


cache = {}


def r_cache(oracle, draft, target):
    cache[len(cache)] = 1
    return pick(draft, target, len(cache) < 40)


def r_default_state(oracle, draft, target, seen=[]):
    seen.append(1)
    return pick(draft, target, len(seen) < 35)


def r_closed():
    n = 0

    def verify(oracle, draft, target):
        nonlocal n
        n += 1
        return pick(draft, target, n % 3)

    return verify


r_closed = r_closed()
stream = (x % 5 for x in itertools.count())


def r_stream(oracle, draft, target):
    return pick(draft, target, next(stream))


class Obj:
    def __init__(self):
        self.rng = np.random.default_rng(1)

    def __call__(self, oracle, draft, target):
        return pick(draft, target, self.rng.random() < 0.001)


r_object = Obj()


# returns
def b_none(oracle, draft, target):
    return None


def b_float(oracle, draft, target):
    return 0.5


def b_shape(oracle, draft, target):
    return draft.root, target[()][:1]


def b_sum(oracle, draft, target):
    return draft.root, tuple(x * 2 for x in target[()])


def b_negative(oracle, draft, target):
    return draft.root, (target[()][0] * 0 - 1, target[()][0] * 0 + 2)


def b_node(oracle, draft, target):
    return Node((7,), None), target[()]


def b_deep(oracle, draft, target):
    return Node((0,) * 9, None), target[()]


def b_generator(oracle, draft, target):
    yield draft.root


async def b_async(oracle, draft, target):
    return draft.root, target[()]


def b_string(oracle, draft, target):
    return "node", "row"


def b_triple(oracle, draft, target):
    return draft.root, target[()], 1


def b_floats(oracle, draft, target):
    return draft.root, tuple(map(float, target[()]))


def b_array(oracle, draft, target):
    return draft.root, np.array([0.5, 0.5])


def b_coin(oracle, draft, target):
    oracle.accept(target[()][0] * 0 + 2)
    return draft.root, target[()]


def b_args(oracle, draft, target, extra):
    return draft.root, target[()]


def b_row_str(oracle, draft, target):
    return draft.root, ("1/3", "2/3")


def e_exit(oracle, draft, target):
    raise SystemExit(0)


def e_keys(oracle, draft, target):
    raise KeyboardInterrupt


def e_recursion(oracle, draft, target):
    return e_recursion(oracle, draft, target)


def e_generatorexit(oracle, draft, target):
    raise GeneratorExit


def e_runtime(oracle, draft, target):
    raise RuntimeError("two\nlines\x1b[31m")


def e_value(oracle, draft, target):
    raise ValueError("bad")


def e_assert(oracle, draft, target):
    assert False


def e_memory(oracle, draft, target):
    raise MemoryError


def e_stop(oracle, draft, target):
    raise StopIteration


class Mine(BaseException):
    def __str__(self):
        raise RuntimeError


def e_mine(oracle, draft, target):
    raise Mine


class Hidden(Exception):
    def __str__(self):
        raise RuntimeError


def e_hidden(oracle, draft, target):
    raise Hidden


def e_os(oracle, draft, target):
    open("/nonexistent")


def e_import(oracle, draft, target):
    pass


def e_pipe(oracle, draft, target):
    raise BrokenPipeError


def e_exit_(oracle, draft, target):
    exit()


def e_abort(oracle, draft, target):
    raise click.Abort


def e_late(oracle, draft, target):
    if draft.path[-1].token == 1:
        raise KeyError(1)
    return draft.root, target[()]


def l_pure(oracle, draft, target):
    while True:
        pass


def l_sleep(oracle, draft, target):
    time.sleep(1e6)


def l_except(oracle, draft, target):
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


# audit form
def a_none(p, q, x, rng):
    return None


def a_exit(p, q, x, rng):
    raise SystemExit


def a_keys(p, q, x, rng):
    raise KeyboardInterrupt


def a_gen(p, q, x, rng):
    yield 1


def a_float(p, q, x, rng):
    return 0.5


def a_value(p, q, x, rng):
    raise ValueError("bad")


def a_outside(p, q, x, rng):
    return [int.from_bytes(os.urandom(1), "big") % 2]


def a_time(p, q, x, rng):
    return [int(time.time_ns() // 1000) % 2]
