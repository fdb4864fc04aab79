"""What an engine is: how its environment is made, and how a server of it is started."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from tests.engines.independent import LENGTH, Sampling


@dataclass(frozen=True)
class Way:
    """A number of texts of each prompt, `together` of them a request."""

    texts: int
    together: int
    sampling: Sampling = field(default_factory=Sampling)
    again: bool = False  # whether z is of tokens that came before after the same token


CHOICE = ("the code", "the file is", "a module", "that")
LETTERS = "abcdefghijklmnopqrstuvwxyz "
LONG = 200
"""Characters of a text of letters; more than its tokens have."""
PAIR = Path(__file__).parents[2] / "gpu" / "pair"
TOGETHER = "100 texts a request"
WAYS = {
    TOGETHER: Way(400, 100),
    "one text a request": Way(200, 1),
    "T = 0.6": Way(400, 100, Sampling(temperature=0.6)),
    "top-k 20": Way(400, 100, Sampling(top_k=20)),
    "top-p 0.8": Way(400, 100, Sampling(top_p=0.8)),
    "min-p 0.1": Way(400, 100, Sampling(min_p=0.1)),
    "T = 0.6, top-k 20, top-p 0.8": Way(400, 100, Sampling(temperature=0.6, top_k=20, top_p=0.8)),
    "repetition penalty 1.3": Way(400, 100, Sampling(repetition=1.3)),
    "presence 0.5, frequency 0.5": Way(400, 100, Sampling(presence=0.5, frequency=0.5)),
    "a choice": Way(400, 100, Sampling(choice=CHOICE)),
    "letters alone": Way(400, 100, Sampling(alphabet=LETTERS)),
}
"""How the second check asks for texts. The last two are grammars; drafted tokens keep the second often."""
NO_SERVER = "no server"
"""Expected of `endpoint` where an engine has no server that it could ask."""
PATIENCE = 300
"""Seconds that a server may take to start."""


@dataclass(frozen=True)
class Setting:
    """One way of serving, by options of the server, or what gives them for an environment.

    `expected`: "passes", "rejected" or "undecided", what docs/engines.md records for this version. `changed`:
    files of the environment with the text that they have meanwhile.
    """

    name: str
    options: tuple[str, ...] | Callable[[Path], tuple[str, ...]]
    expected: str
    changed: Callable[[Path], dict[Path, str]] | None = None
    law: str = "right"  # what the second check finds: "right" or "wrong"


@dataclass(frozen=True)
class Engine:
    """`install(environment)` makes the environment, `command(environment, port)` starts a server, and
    `drawn(url, prompt, length, way)` gives texts of token ids, an ended one with the token that ended it.
    Ways that an engine does not offer are left out.
    """

    name: str
    version: str
    install: Callable[[Path], None]
    command: Callable[[Path, int], list[str]]
    drawn: Callable[[str, Sequence[int], int, Way], list[list[int]]]
    settings: tuple[Setting, ...]
    environment: dict[str, str] = field(default_factory=dict)
    ways: dict[str, Way] = field(default_factory=lambda: dict(WAYS))
    model: str = ""  # its name for `endpoint`, where the server lists none
    row: Callable[[str, Sequence[int]], dict[int, float]] | None = None  # log-probabilities after a prompt
    target: str = ""  # the folder of the target in the environment, where it is not that of the pair
    length: int = LENGTH  # tokens of a text


@contextmanager
def serving(engine: Engine, setting: Setting, place: Path, port: int, log: Path) -> Iterator[str]:
    """A server with that setting: yields its URL, and ends it."""
    changed = setting.changed(place) if setting.changed else {}
    original = {file: file.read_text(encoding="utf-8") for file in changed}
    for file, text in changed.items():
        file.write_text(text, encoding="utf-8")
    options = setting.options if isinstance(setting.options, tuple) else setting.options(place)
    with log.open("w") as output:
        server = subprocess.Popen(
            [*engine.command(place, port), *options],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | engine.environment,
            start_new_session=True,
        )
        try:
            wait(server, port, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            with suppress(ProcessLookupError):  # it ended by itself
                os.killpg(server.pid, signal.SIGTERM)
            server.wait(60)
            for file, text in original.items():
                file.write_text(text, encoding="utf-8")


def wait(server: subprocess.Popen, port: int, log: Path) -> None:
    """Until the server answers; RuntimeError with the log's end if it does not start."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5):
                return
        except HTTPError as answer:
            if answer.code != 503:  # 503 while the model is loaded; transformers cannot list models offline
                return
            time.sleep(1)
        except (URLError, OSError):
            time.sleep(1)
    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
