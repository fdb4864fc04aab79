"""The seconds of each command, so that a call ends in time; and what is left out for lack of time."""

import time
from collections.abc import Callable, Sequence
from math import inf

from benchmarks.on_gpu.runs import GRACE, Results, Run

CALL = 600.0
"""Seconds of the longest call."""

PROBE, CLOSE = 10.0, 10.0
"""Seconds for probing the machine before the commands, and for the report after them."""

RESERVE = PROBE + GRACE + CLOSE
"""Seconds of a call that are not given to commands: also the last command may need its grace."""


def granted(runs: Sequence[Run], call: float) -> list[float]:
    """The seconds of each command in a call of `call` seconds.

    Each command in turn gets its limit or what is left, and 0 if that is less than its least: so what comes
    last is shortened first, then left out.

    >>> granted([Run("a", "one", [], 30), Run("a", "two", [], 30, least=20)], RESERVE + 45)
    [30, 0.0]
    >>> granted([Run("a", "one", [], 30), Run("a", "two", [], 30, least=15)], RESERVE + 45)
    [30, 15.0]
    """
    left, given = call - RESERVE, []
    for run in runs:
        seconds = min(run.limit, left)
        given.append(seconds if seconds >= run.least else 0.0)
        left -= given[-1]
    return given


def forecast(runs: Sequence[Run], call: float) -> list[str]:
    """One line for each command that is shortened, or run only if others end early."""
    lines = []
    for run, seconds in zip(runs, granted(runs, call), strict=True):
        if not seconds:
            lines.append(f"{run.stage}: {run.name}: dropped unless others end early ({run.limit:.0f} s)")
        elif seconds < run.limit:
            lines.append(f"{run.stage}: {run.name}: {seconds:.0f} s instead of {run.limit:.0f}")
    return lines


def carried_out(
    runs: Sequence[Run],
    call: float,
    results: Results,
    started: float,
    after: Callable[[], object],
    ready: Callable[[Run], Run] = lambda run: run,
) -> None:
    """Runs the commands of a call that started at `started` (of `time.monotonic`).

    The time that a command does not use goes to the next ones. `ready` makes the command when its turn
    comes, and `after` is called when it has ended.
    """
    seconds = granted(runs, call)
    end = started + call - RESERVE + PROBE
    for number, run in enumerate(runs):
        kept = sum(seconds[number + 1 :])
        most = inf if seconds[number] else run.limit
        results.add(ready(run), lambda kept=kept, most=most: min(most, end - kept - time.monotonic()))
        after()
