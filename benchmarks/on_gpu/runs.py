"""Commands under a time limit, and the folder in which their answers are kept."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.on_gpu.machine import ROOT

GRACE = 30.0
"""Seconds after Ctrl-C until a command that ignores it is killed."""

LOG = 4_000_000
"""Number of last bytes of a log that are kept."""


@dataclass(frozen=True)
class Run:
    """One command: `limit` in seconds; `read` makes its answer from its output."""

    name: str
    command: list[str]
    limit: float
    read: Callable[[str], Any] = json.loads
    before: float = 0.0
    """Seconds that earlier runs spent on the work that this run continues."""
    otherwise: "Run | None" = None
    """The run that replaces this one if it fails."""

    @property
    def shown(self) -> str:
        """The command as one would type it."""
        return shlex.join("python" if part == sys.executable else part for part in self.command)


@dataclass
class Folder:
    """STAGE.json and STAGE.log of one stage, rewritten after every command."""

    out: Path
    stage: str
    machine: dict[str, Any]
    small: bool
    grace: float = GRACE
    runs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def before(self) -> float:
        """Seconds of the last unfinished run recorded in this stage's JSON; 0 if it was finished."""
        try:
            output = json.loads((self.out / f"{self.stage}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0.0
        last = output["runs"][-1]
        return 0.0 if last["answer"] or output["small"] != self.small else last["seconds"]

    def add(self, run: Run) -> None:
        """Runs a command and saves its result; if it fails, also runs its replacement.

        Ctrl-C is passed on to the command, and raised when the command has ended.
        """
        print(f"{self.stage}: {run.name} (at most {run.limit:.0f} s)", file=sys.stderr, flush=True)
        log = self.out / f"{self.stage}.log"
        with log.open("ab" if self.runs else "wb") as log_file:
            log_file.write(f"$ {run.shown}\n".encode())
            log_file.flush()
            started = time.monotonic()
            output, status, stopped, interrupted = _ended(run, log_file, self.grace)
            seconds = time.monotonic() - started
            answer = None
            with suppress(Exception):
                answer = run.read(output)
            if answer is None or run.read is not json.loads:
                log_file.write(output.encode())
            log_file.write(f"[exit status {status}, {seconds:.1f} s{', stopped' * stopped}]\n".encode())
        if log.stat().st_size > LOG:
            log.write_bytes(log.read_bytes()[-LOG:])
        print(f"  exit status {status}, {seconds:.1f} s{', stopped' * stopped}", file=sys.stderr, flush=True)
        self.runs.append(
            {
                "name": run.name,
                "command": run.shown,
                "status": status,
                "seconds": round(run.before + seconds, 1),
                "stopped": stopped,
                "answer": answer,
            }
        )
        self._write()
        if interrupted:
            raise KeyboardInterrupt
        if answer is None and run.otherwise is not None:
            self.add(run.otherwise)

    def _write(self) -> None:
        made = {
            "stage": self.stage,
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": self.machine,
            "small": self.small,
            "runs": self.runs,
        }
        partial = self.out / f"{self.stage}.partial"
        partial.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        partial.replace(self.out / f"{self.stage}.json")


def _ended(run: Run, log_file: Any, grace: float) -> tuple[str, int, bool, bool]:
    # (standard output, exit status, stopped at the limit, Ctrl-C from the user)
    settings = {**os.environ, "PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1"}
    try:
        child = subprocess.Popen(
            run.command,
            stdout=subprocess.PIPE,
            stderr=log_file,
            cwd=ROOT,
            env=settings,
            start_new_session=True,
        )
    except OSError as error:
        return f"{error}\n", 127, False, False
    stopped = interrupted = False
    output = b""
    try:
        output, _ = child.communicate(timeout=run.limit)
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
