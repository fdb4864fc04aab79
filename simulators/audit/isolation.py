"""Runs an audit in a separate process, which can be killed if the target hangs or crashes."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any, TypeVar

from draftproof.simulators.audit.judge.report import Finding, Report
from draftproof.simulators.audit.sandbox import TRYING, Observer
from draftproof.simulators.support.limits import WAITS
from draftproof.theory.errors import BadInput

GRACE = 2.0  # seconds past the limit by the clock after which a call that cannot be interrupted is killed
LOADING = 120.0  # seconds allowed for importing a target (at least `seconds`)

Result = TypeVar("Result")
Progress = Callable[[int, int, str], None]  # called with (instances done, total, name of the next one)


def isolated(
    audit: Callable[..., Result], name: str, seconds: float, progress: Progress, *arguments: Any
) -> Result | Report:
    """`audit(observer, *arguments)` run in a new process; `audit` is a function of a module.

    A call of the target that takes more than `seconds` of processor time, or WAITS times as long by the
    clock, is interrupted; if it cannot be (in C code), the process is killed. A process that dies twice is a
    finding about the target `name`, in a Report; one that dies once leaves the report undecided. Its standard
    output is redirected to standard error. Raises `audit`'s BadInput, and BadInput if the target is not
    imported in time. A KeyboardInterrupt kills the process and is raised again.
    """
    found = _alone(audit, name, seconds, progress, *arguments)
    if not isinstance(found, Report) or "dies" not in found.found:
        return found
    again = _alone(audit, name, seconds, progress, *arguments)
    if isinstance(again, Report) and "dies" not in again.found:
        again.undecided = f"{found.found['dies'].where}, once and not again"
    return again


def _alone(
    audit: Callable[..., Result], name: str, seconds: float, progress: Progress, *arguments: Any
) -> Result | Report:
    context = multiprocessing.get_context("spawn")
    since = context.RawValue("d", 0.0)
    pipe, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(audit, arguments, since, theirs), daemon=True)
    where, done, started, loading = ", when it was loaded", 0, monotonic(), True

    def ended(kind: str, what: str) -> Report:
        findings = {kind: Finding(kind, f"{what}{where}", fatal=True)}
        took, early = round(monotonic() - started, 3), "process ended early"
        if TRYING in where:
            return Report(name, early, undecided=f"{what}{where}: name them as in the docs", seconds=took)
        return Report(name, early, instances=done, found=findings, seconds=took)

    progress(0, 0, f"loading {name}")
    process.start()
    theirs.close()
    try:
        while True:
            if pipe.poll(0.1):
                match pipe.recv():
                    case "report", report:
                        return report
                    case "bad input", fault:
                        raise BadInput(fault)
                    case "raises", what:
                        return ended("raises", what)
                    case done, total, doing:
                        where = f", on {doing}" if total else where * (not loading)
                        loading = False
                        progress(done, total, doing)
            elif loading and monotonic() - started > max(LOADING, seconds):
                raise BadInput(f"{name}: importing it took more than {max(LOADING, seconds):g} s")
            elif (began := since.value) and monotonic() - began > WAITS * seconds + GRACE:
                return ended("hangs", f"a call took {WAITS * seconds:g} s and could not be interrupted")
    except EOFError:
        process.join()
        code = process.exitcode or 0
        if code >= 0:
            return ended("dies", f"its process ended with exit status {code}")
        reason = signal.strsignal(-code) or f"signal {-code}"
        reason += " (out of memory?)" * (-code == signal.SIGKILL)
        return ended("dies", f"its process was ended: {reason}")
    finally:
        with suppress(OSError):  # what the target started and left behind
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.kill()
        process.join()


def _child(audit: Callable[..., Any], arguments: tuple[Any, ...], since: Any, pipe: Connection) -> None:
    os.setsid()  # what the target starts is ended with this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent receives it and ends this process
    os.dup2(2, 1)
    observer = Observer()
    observer.call_began = partial(setattr, since, "value")  # type: ignore[method-assign]
    observer.progress = lambda *said: pipe.send(said)  # type: ignore[method-assign]
    try:
        answer = "report", audit(observer, *arguments)
    except BadInput as error:
        answer = "bad input", str(error)
    except (KeyboardInterrupt, GeneratorExit) as error:  # raised by the target itself
        answer = "raises", type(error).__name__
    pipe.send(answer)
    pipe.close()
    with suppress(Exception):  # the target may have closed it
        sys.stdout.flush()
    os._exit(0)  # skips threads and exit handlers that the target left behind
