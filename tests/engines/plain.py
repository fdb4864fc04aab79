"""python -m tests.engines.plain NAME --environment DIR: whole runs of `endpoint` on plain servers.

Each run is asked for as a user might. No check may reject. docs/engines-plain.json gets a line
a run.
"""

import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import click

from tests.engines.engine import Engine, Setting, serving

RESULTS = Path(__file__).parents[2] / "docs" / "engines-plain.json"
SERVERS: dict[str, dict[str, tuple[str, ...]]] = {
    "vllm": {
        "float32": (),
        "bfloat16, no prefix cache": ("--dtype", "bfloat16", "--no-enable-prefix-caching"),
    },
    "llama_cpp": {
        "float32, 32 slots": (),
        "float16 cache, four slots, two threads": (
            "-ctk",
            "f16",
            "-ctv",
            "f16",
            "-fa",
            "auto",
            "-np",
            "4",
            "-t",
            "2",
        ),
    },
    "transformers": {"against itself": ()},
}
"""Options of the plain servers of each engine; later ones prevail."""
PROMPTS = (
    "The value of x is",
    "    return ",
    "import numpy as np\n\n",
    "It was the first",
    "A",
    '{"name": "',
)
ASKED: tuple[tuple[tuple[str, ...], dict[str, float]], ...] = (
    ((), {}),
    (("--length", "8"), {}),
    (("--length", "2"), {"concurrency": 16}),
    (("--law-only", "--tokens", "50000"), {}),
    (("--prompts",), {}),
    ((), {"choices": 1}),
    ((), {"temperature": 0.7}),
    ((), {"top_k": 20}),
    ((), {"top_p": 0.9}),
    (("--length", "16"), {"choices": 8, "concurrency": 1}),
)
"""What is asked of `endpoint`: options, and what --settings has. `--prompts` is completed by a file."""
AGAINST = ("--tokens", "1000", "--detect", "0.99")
"""What is asked of a server that gives no rows, and one text a second, against itself."""


@click.command()
@click.argument("name", type=click.Choice([*SERVERS]))
@click.option("--environment", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--runs", default=20, show_default=True, help="Of each server.")
@click.option("--port", default=8123, show_default=True)
def main(name: str, environment: Path, runs: int, port: int) -> None:
    """Judges plain servers of an engine; exit status 0 if no check rejected."""
    engine: Engine = import_module(f"tests.engines.{name}").ENGINE
    rejected = 0
    with tempfile.TemporaryDirectory() as folder:
        for server, options in SERVERS[name].items():
            first = engine.settings[0].options
            own = first if isinstance(first, tuple) else first(environment)
            setting = Setting(server, (*own, *options), "passes")
            with serving(engine, setting, environment.resolve(), port, Path(folder) / "server.log") as url:
                for number in range(runs):
                    done = run(url, number, own if name == "transformers" else (), Path(folder))
                    rejected += done["verdict"] == "rejected"
                    kept = {"engine": engine.name, "version": engine.version, "server": server, **done}
                    click.echo(json.dumps(kept))
                    record(kept)
    sys.exit(1 if rejected else 0)


def run(url: str, number: int, model: tuple[str, ...], folder: Path) -> dict:
    """One run of `endpoint`, the one of this number; with a model, against the server itself."""
    options, settings = ASKED[number % len(ASKED)] if not model else (AGAINST, {})
    prompts = folder / "prompts.txt"
    prompts.write_text("\n".join(map(json.dumps, PROMPTS)), encoding="utf-8")
    asked = [*options, *([str(prompts)] if "--prompts" in options else [])]
    if model:
        settings = {"against_model": model[0]}
        asked += ["--model", *model, "--against", url]
    (folder / "settings.toml").write_text(
        "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    )
    if settings:
        asked += ["--settings", str(folder / "settings.toml")]
    start = datetime.now(UTC).isoformat(timespec="seconds")
    began = time.monotonic()
    command = [sys.executable, "-m", "draftproof", "endpoint", url, "--json", *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    answer = (
        json.loads(done.stdout) if done.stdout else {"verdict": "refused", "stopped": done.stderr.strip()}
    )
    tests = answer.get("tests", [])
    return {
        "asked": [
            *options,
            *(f"{name} = {value}" for name, value in settings.items() if name != "against_model"),
        ],
        "start": start,
        "seconds": round(time.monotonic() - began, 1),
        "status": done.returncode,
        "verdict": answer["verdict"],
        "stopped": answer["stopped"],
        "detectable": answer.get("detectable"),
        "tests": {each["name"]: each["verdict"] for each in tests},
        "judged": {each["name"]: each["runs"] for each in tests if each["runs"]},
        "said": {
            each["name"]: [each["said"], each["witness"], each["log_e"]]
            for each in tests
            if each["verdict"] == "rejected"
        },
    }


def record(kept: dict) -> None:
    """Adds a line to the table."""
    known = RESULTS.read_text(encoding="utf-8").rstrip("]\n") + ",\n" if RESULTS.exists() else "[\n"
    RESULTS.write_text(f"{known}{json.dumps(kept)}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
