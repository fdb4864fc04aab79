"""Commands under a time limit, and the one file in which their answers are kept."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.on_gpu.machine import ROOT

GRACE = 20.0
"""Seconds after Ctrl-C until a command that ignores it is killed."""

LOG = 4_000_000
"""Number of last bytes of the log that are kept."""

RESULTS, LOGGED = "results.json", "run.log"

PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/local/cuda/bin"
"""Where programs are looked for."""


@dataclass(frozen=True)
class Run:
    """One command of a stage: `limit` in seconds; `read` makes its answer from its output."""

    stage: str
    name: str
    command: list[str]
    limit: float
    least: float = 10.0
    """With less time than this the command is left out."""
    read: Callable[[str], Any] = json.loads
    needs: tuple[str, ...] = ()
    """Modules and programs without which the command is left out."""

    @property
    def shown(self) -> str:
        """The command as one would type it."""
        return shlex.join("python" if part == sys.executable else part for part in self.command)

    @property
    def lacks(self) -> list[str]:
        """What the command needs and this machine does not have."""
        return [name for name in self.needs if not (find_spec(name) or shutil.which(name, path=PATH))]


@dataclass
class Results:
    """results.json, rewritten after every command, and run.log; both are continued if they are there."""

    out: Path
    machine: dict[str, Any]
    small: bool
    grace: float = GRACE

    def __post_init__(self) -> None:
        self.stages = documents(self.out)

    def add(self, run: Run, seconds: Callable[[], float]) -> None:
        """Runs a command and saves its result; if it fails, also runs its replacement.

        `seconds` is the time that there is when the command starts. A command that lacks something, or for
        which there is too little time, is not run, and one line says so. Ctrl-C is passed on to the command,
        and raised when the command has ended.
        """
        limit = seconds()
        if run.lacks:
            return self._left_out(run, f"lacks {', '.join(run.lacks)}")
        if limit < run.least:
            return self._left_out(run, f"no time: {max(limit, 0):.0f} s of at least {run.least:.0f}")
        print(f"{run.stage}: {run.name} (at most {limit:.0f} s)", file=sys.stderr, flush=True)
        log = self.out / LOGGED
        with log.open("ab") as log_file:
            log_file.write(f"$ {run.shown}\n".encode())
            log_file.flush()
            started = time.monotonic()
            output, status, stopped, interrupted = _ended(run.command, limit, log_file, self.grace)
            taken = time.monotonic() - started
            answer = None
            with suppress(Exception):
                answer = run.read(output)
            if answer is None or run.read is not json.loads:
                log_file.write(output.encode())
            log_file.write(f"[exit status {status}, {taken:.1f} s{', stopped' * stopped}]\n".encode())
        if log.stat().st_size > LOG:
            log.write_bytes(log.read_bytes()[-LOG:])
        print(f"  exit status {status}, {taken:.1f} s{', stopped' * stopped}", file=sys.stderr, flush=True)
        about = {"status": status, "seconds": round(taken, 1), "stopped": stopped}
        self._keep(run, about | {"answer": answer})
        if interrupted:
            raise KeyboardInterrupt
        return None

    def _left_out(self, run: Run, why: str) -> None:
        print(f"{run.stage}: {run.name}: not run, {why}", file=sys.stderr, flush=True)
        self._keep(run, {"status": None, "seconds": 0.0, "stopped": False, "answer": None, "why": why})

    def _keep(self, run: Run, result: dict[str, Any]) -> None:
        when = datetime.now(UTC).isoformat(timespec="seconds")
        about = {"stage": run.stage, "when": when, "machine": self.machine, "small": self.small}
        known = self.stages.get(run.stage, {"runs": []})
        runs = known["runs"] if known.get("small") == self.small else []
        named = {"name": run.name, "command": run.shown, "commit": self.machine.get("commit")}
        self.stages[run.stage] = about | {"runs": [*runs, named | result]}
        written(self.out, self.stages)


def documents(out: Path) -> dict[str, dict[str, Any]]:
    """The document of every stage in a folder's results.json; empty if there is none."""
    try:
        return json.loads((out / RESULTS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def written(out: Path, stages: dict[str, dict[str, Any]]) -> None:
    """Writes results.json; at every moment it is whole."""
    partial = out / f"{RESULTS}.partial"
    partial.write_text(json.dumps(stages, indent=1) + "\n", encoding="utf-8")
    partial.replace(out / RESULTS)


def _ended(command: list[str], limit: float, log_file: Any, grace: float) -> tuple[str, int, bool, bool]:
    # (standard output, exit status, stopped at the limit, Ctrl-C from the user)
    settings = {**os.environ, "PATH": PATH, "PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1"}
    try:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log_file, cwd=ROOT, env=settings, start_new_session=True
        )
    except OSError as error:
        return f"{error}\n", 127, False, False
    stopped = interrupted = False
    output = b""
    try:
        output, _ = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        stopped = True
    except KeyboardInterrupt:
        interrupted = True
    if stopped or interrupted:
        child.send_signal(signal.SIGINT)
        try:
            output, _ = child.communicate(timeout=grace)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            os.killpg(child.pid, signal.SIGKILL)
            output, _ = child.communicate()
    with suppress(ProcessLookupError):  # kills the processes that it started
        os.killpg(child.pid, signal.SIGKILL)
    return output.decode(errors="replace"), child.returncode, stopped, interrupted
