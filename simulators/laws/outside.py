"""What code asks besides the oracle: random numbers, clocks, hashes of words, what earlier runs left."""

import gc
import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from inspect import ismodule
from itertools import count
from types import CodeType, FrameType, FunctionType
from typing import Any

from draftproof.simulators.support import limits

CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
CALLS = {
    "random": None,  # None: every function
    "_random": None,
    "time": {*CLOCKS, *(f"{clock}_ns" for clock in CLOCKS), "localtime", "gmtime", "ctime"},
    "datetime": {"now", "utcnow", "today"},
    "posix": {"urandom", "getrandom"},
    "nt": {"urandom"},
}
"""Module -> its compiled functions that answer anew each time, and those of its classes' objects."""


@contextmanager
def seen(function: Callable[..., Any]) -> Iterator[list[str]]:
    """A list of what is asked or changed inside: compiled functions of CALLS, `hash` in the code of
    `function` itself, and `states`.
    """
    asked: list[str] = []
    own, before, states_before = code(function), sys.getprofile(), states(function)

    def watch(frame: FrameType, event: str, call: Any) -> None:
        if event == "c_call" and frame.f_code.co_filename != limits.__file__:
            asked.extend(filter(None, [_asked(call, frame.f_code, own)]))

    collects = gc.isenabled()
    gc.disable()  # others' callbacks of a collection ask clocks
    sys.setprofile(watch)
    try:
        yield asked
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
        asked += [name for name, state in states(function).items() if states_before.get(name) != state]


def code(function: Callable[..., Any]) -> CodeType | None:
    """The code of a function or method, or of an object that can be called."""
    function = getattr(function, "__func__", getattr(function, "func", function))
    found = getattr(function, "__code__", None)
    return found or getattr(type(function).__call__, "__code__", None)


def _asked(call: Any, where: CodeType, own: CodeType | None) -> str:
    owner = getattr(call, "__self__", None)
    if ismodule(owner):
        place = owner.__name__
    else:
        place = (owner if isinstance(owner, type) else type(owner)).__module__
    if place == "builtins" and call.__name__ == "hash" and own and where.co_filename == own.co_filename:
        return "hash"
    names = CALLS.get(place, ())
    return f"{place}.{call.__name__}" if names is None or call.__name__ in names else ""


def states(function: Callable[..., Any]) -> dict[str, Any]:
    """Name -> the state of the generators of torch and numpy that all code shares, and of generators, numbers
    and containers (their length) in the function's module, closure, defaults or object.
    """
    found: dict[str, Any] = {}
    if torch := sys.modules.get("torch"):
        found["torch"] = torch.get_rng_state().numpy().tobytes()
    random: Any = getattr(sys.modules.get("numpy"), "random", None)
    shared = {"numpy.random": random.mtrand._rand} if random else {}
    for name, value in {**shared, **vars_of(function)}.items():
        if random and isinstance(value, random.Generator | random.RandomState):
            found[name] = pickle.dumps(value._bit_generator.state)
        elif isinstance(value, list | dict | set | deque):
            found[name] = len(value)
        elif isinstance(value, int | float | str | bytes | count):
            found[name] = repr(value)
    return found


def vars_of(function: Any) -> dict[str, Any]:
    """What a function reaches without a call: its module's names, closure, defaults and attributes."""
    inner = getattr(function, "__func__", function)
    if not isinstance(inner, FunctionType):
        return vars(function) if hasattr(function, "__dict__") else {}
    closure = {}
    for name, cell in zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True):
        with suppress(ValueError):  # a variable without a value
            closure[name] = cell.cell_contents
    defaults = {f"default {n}": value for n, value in enumerate(inner.__defaults__ or ())}
    object_ = getattr(getattr(function, "__self__", function), "__dict__", {})
    return {**inner.__globals__, **closure, **defaults, **(inner.__kwdefaults__ or {}), **object_}
