"""Foreign functions that tests share: good ones, and ones that misbehave."""

import _thread
import ctypes
import itertools
import os
import random
import sys
import threading
import time
from functools import wraps

import numpy as np


def residual(p, q):
    rest = np.maximum(p - q, 0.0)
    return rest / rest.sum() if rest.any() else p


def good(p, q, x, rng):
    for i, t in enumerate(x):
        if not rng.random() < p[i, t] / q[i, t]:
            return [*x[:i], rng.choice(len(p[i]), p=residual(p[i], q[i]))]
    return [*x, rng.choice(len(p[-1]), p=p[-1])]


def unguarded(p, q, x, rng):
    for i, t in enumerate(x):
        if not rng.random() < p[i, t] / q[i, t]:
            rest = np.maximum(p[i] - q[i], 0.0)
            return [*x[:i], rng.choice(len(rest), p=rest / rest.sum())]
    return [*x, rng.choice(len(p[-1]), p=p[-1])]


def good_with_floats(p, q, x, rng):
    for i, t in enumerate(x):
        if not float(rng.random()) < p[i, t] / q[i, t]:
            return [*x[:i], rng.choice(len(p[i]), p=residual(p[i], q[i]))]
    return [*x, rng.choice(len(p[-1]), p=p[-1])]


def good_with_python_random(p, q, x):
    for i, t in enumerate(x):
        if not random.random() < p[i, t] / q[i, t]:
            return [*x[:i], random.choices(range(len(p[i])), residual(p[i], q[i]))[0]]
    return [*x, random.choices(range(len(p[-1])), p[-1])[0]]


def good_with_numpy_globals(p, q, x):
    for i, t in enumerate(x):
        if not np.random.rand() < p[i, t] / q[i, t]:
            return [*x[:i], np.random.choice(len(p[i]), p=residual(p[i], q[i]))]
    return [*x, np.random.choice(len(p[-1]), p=p[-1])]


def on_some_drafts(function):
    """The function on drafts that do not begin with token 0: what every call does is no fault of a rule."""

    @wraps(function)
    def verify(p, q, x, rng):
        return function(p, q, x, rng) if x[0] else good(p, q, x, rng)

    return verify


@on_some_drafts
def raises(p, q, x, rng):
    raise KeyError("no\nsuch key")


def hangs(p, q, x, rng):
    while True:
        try:
            time.sleep(0.001)
        except Exception:
            continue


@on_some_drafts
def garbage(p, q, x, rng):
    return "tokens"


@on_some_drafts
def nothing(p, q, x, rng):
    return []


@on_some_drafts
def floats(p, q, x, rng):
    return [0.5]


def outside(p, q, x, rng):
    return [len(p[0])]


def mutates(p, q, x, rng):
    tokens = good(p, q, x, rng)
    p[0] = 0.0
    return tokens


def prints(p, q, x, rng):
    print("hello")
    return good(p, q, x, rng)


def starts_threads(p, q, x, rng):
    threading.Thread(target=time.sleep, args=(60,)).start()
    return good(p, q, x, rng)


start = threading.Thread.start


def starts_by_a_kept_name(p, q, x, rng):
    start(threading.Thread(target=time.sleep, args=(60,), name="kept", daemon=True))
    return good(p, q, x, rng)


def starts_by_number(p, q, x, rng):
    _thread.start_new_thread(time.sleep, (60,))
    return good(p, q, x, rng)


def exits(p, q, x, rng):
    sys.exit(7)


@on_some_drafts
def recurses(p, q, x, rng):
    return recurses(p, q, x, rng)


def unseen_coins(p, q, x, rng):
    return [time.perf_counter_ns() // 100 % 2]


def hashes_a_coin(p, q, x, rng):
    return [(hash(rng.random()) >> 9) % 2]


def waits_in_c(p, q, x, rng):
    return sum(itertools.repeat(0))


def leaves_at_once(p, q, x, rng):
    os._exit(7)


def breaks(p, q, x, rng):
    ctypes.string_at(0)


def breaks_when_it_is_tried(first, second, third, rng):
    ctypes.string_at(0)


def adds_coins(p, q, x, rng):
    return [int(rng.random() + rng.random() < 1)]


def good_but_hashed(p, q, x, rng):
    coin = np.random.Generator(np.random.PCG64(hash(rng.random())))
    return good(p, q, x, coin)


def never_ends(p, q, x, rng):
    while rng.random() < 0.5:
        pass
    return [0]


def interrupts(p, q, x, rng):
    raise KeyboardInterrupt


MISBEHAVED = {
    raises: "raises",
    garbage: "returns garbage",
    nothing: "returns garbage",
    floats: "returns garbage",
    outside: "leaves the vocabulary",
    starts_threads: "starts a thread",
    starts_by_a_kept_name: "starts a thread",
    starts_by_number: "starts a thread",
    exits: "leaves",
    recurses: "raises",
}
