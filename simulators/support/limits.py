"""A limit on the time that other people's code may take, and the words of what it raises."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, process_time
from typing import Any

CALL_SECONDS = 10.0  # of processor time that one call may take
WAITS = 6  # times as long by the clock: a call may sleep or block, and other processes may take the processor


class TooLong(BaseException):
    """Ends a call that takes too long, even if it catches every `Exception`."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a call; any other KeyboardInterrupt was raised by the code itself."""


def interrupted(*_: Any) -> None:
    """The handler of Ctrl-C during a call."""
    raise Interrupted


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TooLong in what runs inside after that much processor time, or WAITS times as long by the clock.

    It works in the main thread, and for Python code.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    began, last, late = process_time(), monotonic() + WAITS * seconds, ""

    def stop(*_: Any) -> None:
        nonlocal late
        if process_time() - began >= seconds:
            late = f"a call took more than {seconds:g} s of processor time"
        elif monotonic() >= last:
            late = f"a call took more than {WAITS * seconds:g} s"
        if late:
            raise TooLong(late)

    before = signal.signal(signal.SIGALRM, stop)
    keys = signal.getsignal(signal.SIGINT)
    if keys is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)  # repeats, since the function may catch the exception
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if keys is signal.default_int_handler:
            signal.signal(signal.SIGINT, keys)
    if late:  # the exception was lost, for instance in a finaliser
        raise TooLong(late)


def words(error: Any, seconds: float = 1.0, text: Callable[[Any], str] = str) -> str:
    """The words of an exception in one line; other people's may raise, never end, or not be text. Raises
    TooLong.
    """
    try:
        with limited(min(seconds, 1.0)):
            return " ".join(text(error).split())[:200].encode("utf-8", "backslashreplace").decode()
    except (Interrupted, TooLong):
        raise
    except BaseException:
        return "(its message cannot be shown)"
