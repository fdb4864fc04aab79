"""Runs a foreign function in isolation from the rest of the process."""

import _thread
import io
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from draftproof.simulators.audit.coins.sources import Source
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.stand_ins.generators import Generator
from draftproof.simulators.audit.stand_ins.replaced import Current, answered, swapped
from draftproof.simulators.support.limits import CALL_SECONDS, Interrupted, TooLong, limited, words
from draftproof.theory.errors import BadInput

Result = TypeVar("Result")

TRYING = "calls that try what it takes"
"""What `Observer.progress` is told while the meaning of parameters is guessed: a crash then is no finding."""

STARTERS = {
    "starts a thread: choices made in other threads have no order": [
        (threading.Thread, "start"),
        (_thread, "start_new_thread"),
        (threading, "_start_new_thread"),  # until Python 3.12
        (_thread, "start_joinable_thread"),  # from 3.13 on
        (threading, "_start_joinable_thread"),
    ],
    "starts a process: choices made in another process are not seen": [(os, "fork"), (os, "forkpty")],
}
"""A fault -> (object, name) of the functions that start a thread, or copy the process."""


class Fault(Exception):
    """A call went wrong: `kind` is a short label, `what` a description."""

    def __init__(self, kind: str, what: str):
        super().__init__(f"{kind}: {what}")
        self.kind, self.what = kind, what


class _Refused(BaseException):
    """Ends a call with a fault, even if the function catches every `Exception`."""


class Observer:
    """Callbacks for an audit's progress; these defaults do nothing."""

    def call_began(self, since: float) -> None:
        """A call of the function began at time `since` of `monotonic`, or ended (`since` is 0)."""

    def progress(self, done: int, total: int, doing: str) -> None:
        """The number of instances done, the total, and the name of the next instance or test. The target is
        loaded before the first one.
        """


@dataclass
class Sandbox:
    """Calls the function and records remarks about it, the first of each kind."""

    seconds: float
    current: Current
    printed: io.StringIO
    observer: Observer
    remarks: dict[str, str] = field(default_factory=dict)
    bisected: bool = False  # some coins were needed as plain numbers
    repeats: bool = False  # the same coins were seen to give the same result
    runs: int = 0  # enumerated so far
    off: float = 0.0  # total variation by which epsilons may have moved the law of the last instance

    def start(self, source: Source) -> Generator:
        """Begins a run, or goes on with it; returns the generator that the function gets."""
        self.current.start(source)
        return Generator(source)

    def call(self, function: Callable[[], Result]) -> Result:
        """Returns function(); raises Fault if it raises, exits, starts a thread or a process, or takes too
        long, twice.
        """
        try:
            return self._once(function)
        except Fault as fault:
            if fault.kind != "hangs":
                raise
            self._once(function)  # raises it again
        raise NotEnumerable(f"a call took more than {self.seconds:g} s once, and not when it was made again")

    def _once(self, function: Callable[[], Result]) -> Result:
        self.observer.call_began(monotonic())
        try:
            with limited(self.seconds):
                return function()
        except _Refused as refused:
            raise Fault(*refused.args) from None
        except TooLong as late:
            raise Fault("hangs", str(late)) from None
        except SystemExit as error:
            raise Fault("leaves", f"calls sys.exit({self._said(error.code, repr)})") from None
        except (Fault, NotEnumerable, BadInput, Interrupted):
            raise
        except RecursionError:
            raise Fault("raises", "RecursionError") from None
        except ImportError as error:  # of this environment, no fault of the function's
            raise BadInput(f"it needs a module that is not here: {self._said(error)}") from None
        except BaseException as error:
            raise Fault("raises", f"{type(error).__name__}: {self._said(error)}") from None
        finally:
            self.observer.call_began(0.0)
            if self.printed.tell():
                self.remarks.setdefault("prints", ascii(self.printed.getvalue()[:60]))
                self.printed.seek(0)
                self.printed.truncate()

    def _said(self, error: Any, text: Callable[[Any], str] = str) -> str:
        try:
            return words(error, self.seconds, text)
        except TooLong as late:
            raise Fault("hangs", str(late)) from None


@contextmanager
def sandboxed(
    seconds: float = CALL_SECONDS, namespace: dict[str, Any] | None = None, observer: Observer | None = None
) -> Iterator[Sandbox]:
    """While entered, output is captured, threads cannot start, and random calls draw from the source.

    The time limit works in the main thread, for Python code; `isolation` kills what hangs in C code.
    """
    current, printed = Current(), io.StringIO()
    printed.close = lambda: None  # type: ignore[method-assign]  # standard output is not the function's own

    def refusing(fault: str) -> Callable[..., Any]:
        def refuse(*_: Any, **__: Any) -> Any:
            raise _Refused(*fault.split(": "))

        return refuse

    starters = [(refusing(fault), each) for fault, places in STARTERS.items() for each in places]
    recursion = sys.getrecursionlimit()
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 0
    state = torch.get_rng_state() if torch else None
    try:
        if torch:
            torch.set_num_threads(1)  # rows are short, so more threads would only cost time
        with (
            swapped((*each, refuse) for refuse, each in starters if hasattr(*each)),
            warnings.catch_warnings(action="ignore"),
            redirect_stdout(printed),
            redirect_stderr(printed),
            answered(current, {} if namespace is None else namespace),
        ):
            yield Sandbox(seconds, current, printed, observer or Observer())
    finally:
        sys.setrecursionlimit(recursion)
        if torch:
            torch.set_num_threads(threads)
            torch.set_rng_state(state)
