"""Runs a foreign function without letting it disturb the process."""

import _thread
import inspect
import io
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from draftproof.simulators.audit.randomness.generators import Current, answered, swapped
from draftproof.theory.errors import BadInput

Result = TypeVar("Result")

SECONDS = 10.0  # longest that one call of the function may take

THREAD_STARTERS = [
    (place, name)
    for place, name in (
        (threading.Thread, "start"),
        (_thread, "start_new_thread"),
        (threading, "_start_new_thread"),  # until Python 3.12
        (_thread, "start_joinable_thread"),  # from 3.13 on
        (threading, "_start_joinable_thread"),
    )
    if hasattr(place, name)
]
"""Where a thread can be started: place and name."""


class Fault(Exception):
    """One call went wrong: `kind` in a word or two, and what happened."""

    def __init__(self, kind: str, what: str):
        super().__init__(f"{kind}: {what}")
        self.kind, self.what = kind, what


class _Refused(BaseException):
    """Ends a call, also one that catches every `Exception`; says with which fault."""


class Observer:
    """Callbacks that tell how far an audit is; these do nothing."""

    def call_began(self, since: float) -> None:
        """A call of the function began at this time of `monotonic`, or ended (0)."""

    def loaded(self) -> None:
        """The target was found and imported."""

    def progress(self, done: int, total: int, doing: str) -> None:
        """How many instances are done, of how many; the one that comes next, or the test that does."""


@dataclass
class Sandbox:
    """How the function is called, and what is noticed besides its law: the first remark of each kind."""

    name: str
    seconds: float
    current: Current
    printed: io.StringIO
    observer: Observer
    remarks: dict[str, str] = field(default_factory=dict)
    bisected: bool = False  # some coins had to be plain numbers
    repeats: bool = False  # the same coins gave the same result

    def remark(self, kind: str, what: str) -> None:
        self.remarks.setdefault(kind, what)

    def call(self, function: Callable[[], Result]) -> Result:
        """function(), or a Fault when it raises, exits, starts a thread or takes too long.

        Raises BadInput where what it calls does not take the arguments: that is no fault of a verifier.
        """
        self.observer.call_began(monotonic())
        try:
            with _limited(self.seconds):
                return function()
        except _Refused as refused:
            raise Fault(*refused.args) from None
        except SystemExit as error:
            raise Fault("leaves", f"calls sys.exit({error.code!r})") from None
        except Fault:
            raise
        except RecursionError:
            raise Fault("raises", "RecursionError") from None
        except Exception as error:
            if isinstance(error, TypeError) and _is_wrong_call(error, function):
                raise BadInput(
                    f"{self.name} is called with arguments that it does not take: {error}"
                ) from None
            message = " ".join(str(error).split())[:200]
            raise Fault("raises", f"{type(error).__name__}: {message}") from error
        finally:
            self.observer.call_began(0.0)
            if self.printed.tell():
                self.remark("prints", repr(self.printed.getvalue()[:60]))
                self.printed.seek(0)
                self.printed.truncate()


_WRONG_CALL = re.compile(r"(takes|missing) .*argument|unexpected keyword argument|multiple values for arg")


def _is_wrong_call(error: TypeError, function: Callable[..., Any]) -> bool:
    # Whether Python refused the call in `function` itself, or in wrappers that pass on whatever they get.
    codes, traceback = [], error.__traceback__
    while traceback is not None:
        codes.append(traceback.tb_frame.f_code)
        traceback = traceback.tb_next
    ours = getattr(function, "__code__", None)
    inside = codes[codes.index(ours) + 1 :] if ours in codes else codes
    return bool(_WRONG_CALL.search(str(error))) and all(code.co_flags & inspect.CO_VARARGS for code in inside)


@contextmanager
def sandboxed(
    seconds: float = SECONDS,
    namespace: dict[str, Any] | None = None,
    observer: Observer | None = None,
    name: str = "the function",
) -> Iterator[Sandbox]:
    """During an audit output is caught, threads do not start, random calls are answered.

    The time limit works in the main thread, for Python code; `isolation` kills what hangs in C code.
    """
    current, printed = Current(), io.StringIO()

    def refuse(*_: Any, **__: Any) -> Any:
        raise _Refused("starts a thread", "choices made in other threads have no order")

    recursion = sys.getrecursionlimit()
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 0
    try:
        if torch:
            torch.set_num_threads(1)  # rows are short: threads would wait for one another
        with (
            swapped((*starter, refuse) for starter in THREAD_STARTERS),
            warnings.catch_warnings(action="ignore"),
            redirect_stdout(printed),
            redirect_stderr(printed),
            answered(current, {} if namespace is None else namespace),
        ):
            yield Sandbox(name, seconds, current, printed, observer or Observer())
    finally:
        sys.setrecursionlimit(recursion)
        if torch:
            torch.set_num_threads(threads)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: Any) -> None:
        raise _Refused("hangs", f"a call took more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)  # repeated: the function may catch one
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
