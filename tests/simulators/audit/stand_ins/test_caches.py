"""What a function keeps from call to call by address, hash or time, and failures that happen once."""

import time
from functools import lru_cache

import numpy as np
import pytest

from draftproof.simulators import audit
from tests.simulators.audit.stand_ins.test_states import token

SMALL = {"vocab": 2, "depth": 1, "edges": False, "smallest": False}
KEYS = {
    "rows": lambda p, q, x, rng: id(p),
    "tokens": lambda p, q, x, rng: id(x),
    "pair": lambda p, q, x, rng: (id(p), id(q)),
    "generator": lambda p, q, x, rng: id(rng),
    "memory": lambda p, q, x, rng: p.ctypes.data,
    "a view": lambda p, q, x, rng: id(p[0]),
    "the last view": lambda p, q, x, rng: id(p[-1]),
    "two views": lambda p, q, x, rng: (id(p[0]), id(q[0])),
    "a shape": lambda p, q, x, rng: id(p.reshape(-1)),
    "turned": lambda p, q, x, rng: id(p.T),
    "a list": lambda p, q, x, rng: id(p.tolist()),
    "a tuple": lambda p, q, x, rng: id(tuple(p)),
    "two lists": lambda p, q, x, rng: (id(p.tolist()), id(q.tolist())),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.sampled(3)
def test_rows_that_are_cached_by_address_are_not_lossless(key):
    cache = {}

    def verify(p, q, x, rng):
        rows = cache.setdefault(KEYS[key](p, q, x, rng), p.copy())
        return token(rows, q, x, rng.random)

    report = audit.examine(verify, **SMALL)
    assert report.wrong or "earlier calls" in report.undecided, report
    assert audit.examine(verify, **SMALL, statistical=True).lossless is False


def test_an_object_that_caches_by_address_is_not_lossless():
    class Verifier:
        def __init__(self):
            self.cache = {}

        def __call__(self, p, q, x, rng):
            return token(self.cache.setdefault(id(p), p.copy()), q, x, rng.random)

    assert not audit.examine(Verifier(), **SMALL).lossless
    assert not audit.examine(Verifier, **SMALL).lossless  # made anew for every run: wrong in its second call


def test_a_list_that_is_kept_has_an_address_of_its_own():
    cache = {}

    def verify(p, q, x, rng):
        rows = p.tolist()
        _, found = cache.setdefault(id(rows), (rows, p.copy()))
        return token(found, q, x, rng.random)

    report = audit.examine(verify, **SMALL)
    assert report.lossless, report


@pytest.mark.parametrize("checked", [True, False])
def test_a_cache_by_address_that_keeps_its_keys_alive_is_right(checked):
    cache = {}

    def verify(p, q, x, rng):
        found = cache.get(id(p))
        if found is None or (checked and found[0] is not p):
            found = cache[id(p)] = p, p.copy()
        return token(found[1], q, x, rng.random)

    report = audit.examine(verify, **SMALL)
    assert report.lossless, report


COINS = {
    "generator": lambda p, x, rng: id(rng),
    "rows": lambda p, x, rng: (id(p), int(x[0])),
    "bytes": lambda p, x, rng: hash(p.tobytes() + x.tobytes()),
    "text": lambda p, x, rng: hash(str(p.tolist()) + str(x)),
    "tokens": lambda p, x, rng: tuple(x.tolist()),
    "second": lambda p, x, rng: int(time.time()),
    "steady second": lambda p, x, rng: int(time.monotonic()),
}


@pytest.mark.parametrize("key", COINS)
def test_a_coin_that_is_kept_is_not_lossless(key):
    cache = {}

    def verify(p, q, x, rng):
        at = COINS[key](p, x, rng)
        if at not in cache:
            cache[at] = rng.random()
        coins = [rng.random(), cache[at]]
        return token(p, q, x, coins.pop)

    report = audit.examine(verify, **SMALL)
    assert not report.lossless, report


def test_a_cached_function_of_the_rows_is_right():
    @lru_cache
    def rows(text, shape):
        return np.frombuffer(text).reshape(shape)

    def verify(p, q, x, rng):
        return token(rows(p.tobytes(), p.shape), q, x, rng.random)

    assert audit.examine(verify, **SMALL).lossless


@pytest.mark.parametrize(
    "seed",
    [
        lambda: id(np.zeros(1)),
        lambda: abs(hash("text")),
        lambda: int(time.time()),
        lambda: int(time.monotonic()),
    ],
)
def test_a_seed_that_hardly_changes_is_constant(seed):
    report = audit.examine(lambda p, q, x: token(p, q, x, np.random.default_rng(seed()).random), **SMALL)
    assert not report.lossless, report


@pytest.mark.parametrize("call", [25, 60, 100])
@pytest.mark.parametrize("fails", [lambda: [0], lambda: [][0]])
@pytest.mark.sampled(6)
def test_a_failure_that_does_not_recur_is_undecided(call, fails):
    calls = []

    def verify(p, q, x, rng):
        calls.append(x)
        return fails() if len(calls) == call else token(p, q, x, rng.random)

    report = audit.examine(verify, **SMALL)
    assert report.lossless is None, report


WRONG_AT_EDGES = {
    "raises": lambda: [][0],
    "leaves the vocabulary": lambda: [7],
    "an impossible token": lambda: [1],
}


AT_EDGES = SMALL | {"edges": True, "runs": 0}


@pytest.mark.parametrize("after", [1, 7, 40])
@pytest.mark.parametrize("fault", WRONG_AT_EDGES)
def test_a_failure_at_the_edges_that_does_not_recur_is_undecided(after, fault):
    calls, last = [], 0

    def verify(p, q, x, rng):
        calls.append(x)
        coins = [rng.random()]
        edge = isinstance(coins[0], float) and coins[0] == 0 and p[0, 1] == 0
        if 0 < last <= len(calls) and edge and not failed:
            failed.append(len(calls))
            return WRONG_AT_EDGES[fault]()
        return token(p, q, x, lambda: coins.pop() if coins else rng.random())

    failed = []
    assert audit.examine(verify, **AT_EDGES | {"edges": False}).lossless
    last = len(calls) + after
    calls.clear()
    report = audit.examine(verify, **AT_EDGES)
    assert len(failed) == 1
    assert report.lossless is None, report
    assert "did not recur" in report.undecided


@pytest.mark.parametrize("fault", WRONG_AT_EDGES)
def test_a_failure_at_the_edges_that_recurs_is_a_finding(fault):
    def verify(p, q, x, rng):
        coins = [rng.random()]
        if coins[0] >= 1 - 2.0**-53 and p[0, 1] == 0:
            return WRONG_AT_EDGES[fault]()
        return token(p, q, x, lambda: coins.pop() if coins else rng.random())

    report = audit.examine(verify, **AT_EDGES)
    assert report.lossless, report
    assert "findings at the edges" in str(report)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.slow
def test_a_call_that_hangs_once_is_undecided(again):
    calls = []

    def verify(p, q, x, rng):
        calls.append(x)
        while len(calls) == 60 or (again and len(calls) > 60):
            pass
        return token(p, q, x, rng.random)

    report = audit.examine(verify, **SMALL, seconds=0.3)
    assert report.lossless is (False if again else None), report
    assert again or "not when it was made again" in report.undecided
