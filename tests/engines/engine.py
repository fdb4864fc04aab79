"""What an engine is: how its environment is made, and how a server of it is started."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

PATIENCE = 300
"""Seconds that a server may take to start."""


@dataclass(frozen=True)
class Setting:
    """One way of serving, by options of the server.

    `expected`: "passes", "rejected" or "undecided", what docs/engines.md records for this version. `changed`:
    files of the environment with the text that they have meanwhile.
    """

    name: str
    options: tuple[str, ...]
    expected: str
    changed: Callable[[Path], dict[Path, str]] | None = None


@dataclass(frozen=True)
class Engine:
    """`install(environment)` makes the environment, `command(environment, port)` starts a server."""

    name: str
    version: str
    install: Callable[[Path], None]
    command: Callable[[Path, int], list[str]]
    settings: tuple[Setting, ...]
    environment: dict[str, str] = field(default_factory=dict)


@contextmanager
def serving(engine: Engine, setting: Setting, place: Path, port: int, log: Path) -> Iterator[str]:
    """A server with that setting: yields its URL, and ends it."""
    changed = setting.changed(place) if setting.changed else {}
    original = {file: file.read_text(encoding="utf-8") for file in changed}
    for file, text in changed.items():
        file.write_text(text, encoding="utf-8")
    with log.open("w") as output:
        server = subprocess.Popen(
            [*engine.command(place, port), *setting.options],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | engine.environment,
            start_new_session=True,
        )
        try:
            wait(server, port, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(60)
            for file, text in original.items():
                file.write_text(text, encoding="utf-8")


def wait(server: subprocess.Popen, port: int, log: Path) -> None:
    """Until the server lists its models; RuntimeError with the log's end if it does not start."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(1)
    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
