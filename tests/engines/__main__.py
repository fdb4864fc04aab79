"""python -m tests.engines NAME --environment DIR: every setting of the engine, by both checks."""

import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import click

from tests.engines.engine import PAIR, Engine, Setting, serving
from tests.engines.independent import LENGTH, PROMPTS, z_values

SURE, QUIET = 6.0, 4.0
"""|z| above which the second check rejects, and below which it finds nothing."""
RECORD = Path(__file__).parents[2] / "docs" / "engines.json"
"""What is known of each engine, version and setting, for programs that must refuse rollouts off policy."""


@click.command()
@click.argument("name", type=click.Choice(["vllm", "llama_cpp", "transformers"]))
@click.option("--environment", type=click.Path(path_type=Path), help="Kept, and used again if it is there.")
@click.option("--setting", "only", multiple=True, help="Only this setting; may be repeated.")
@click.option("--port", default=8123, show_default=True)
@click.option("--write", is_flag=True, help="Record what was found in docs/engines.json.")
def main(name: str, environment: Path | None, only: tuple[str, ...], port: int, write: bool) -> None:
    """Judges an engine's servers; exit status 0 if every setting is as its file expects."""
    engine: Engine = import_module(f"tests.engines.{name}").ENGINE
    with tempfile.TemporaryDirectory() as folder:
        place = (environment or Path(folder) / "environment").resolve()
        if not (place / "bin").is_dir():
            click.echo(f"making an environment for {engine.name} {engine.version} in {place}", err=True)
            engine.install(place)
        ok = True
        for setting in engine.settings:
            if not only or setting.name in only:
                found = both(engine, setting, place, port, Path(folder) / "server.log")
                right = found["verdict"] == setting.expected and found["second"] == setting.law
                ok &= right
                click.echo("" if right else f"  NOT as expected: {setting.expected}, {setting.law}")
                if write:
                    record(engine, setting, found)
    sys.exit(0 if ok else 1)


def both(engine: Engine, setting: Setting, place: Path, port: int, log: Path) -> dict:
    """What both checks find of a server with that setting; printed as it comes."""
    click.echo(f"{engine.name} {engine.version}, {setting.name}")
    started, zs = time.monotonic(), {}
    with serving(engine, setting, place, port, log) as url:
        for way, (texts, together) in engine.ways.items():
            drawn = {tuple(prompt): engine.drawn(url, prompt, LENGTH, texts, together) for prompt in PROMPTS}
            zs[way] = [round(z, 1) for z in z_values(str(PAIR / "target"), drawn)]
            click.echo(f"  second check, {way}: z " + " ".join(f"{z:+.1f}" for z in zs[way]))
        verdict, said = judged(url)  # afterwards: what it asks for may end the server
    seconds = round(time.monotonic() - started)
    click.echo(f"  endpoint: {verdict} ({said}); {seconds} s")
    largest = max(abs(z) for each in zs.values() for z in each)
    second = "wrong" if largest > SURE else "right" if largest < QUIET else "unclear"
    return {"verdict": verdict, "said": said, "second": second, "z": zs, "seconds": seconds}


def judged(url: str) -> tuple[str, str]:
    """What `draftproof endpoint` finds: "passes", "rejected", "undecided" or "refused", and why."""
    run = [sys.executable, "-m", "draftproof", "endpoint", url, "--json"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        return "refused", done.stderr.strip()
    answer = json.loads(done.stdout)
    said = ", ".join(answer["found"]) or "nothing found"
    if answer["stopped"]:
        said += f"; ended early: {answer['stopped'][:80]}"
    words = {0: "passes", 1: "rejected", 3: "undecided"}
    return words.get(done.returncode, "failed"), said


def record(engine: Engine, setting: Setting, found: dict) -> None:
    """Writes what was found of the setting. `on_policy` is true only if the second check found the law right
    and `endpoint` did not reject: a program that reads it refuses everything else.
    """
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else []
    key = {"engine": engine.name, "version": engine.version, "setting": setting.name}
    kept = [each for each in known if any(each[part] != key[part] for part in key)]
    wrong = found["verdict"] == "rejected" or found["second"] == "wrong"
    options = setting.options if isinstance(setting.options, tuple) else setting.options(Path("ENVIRONMENT"))
    new = {
        **key,
        "options": [each.replace(str(PAIR), "PAIR") for each in options],
        "released": setting.changed is None,  # otherwise files of the engine were mended
        "on_policy": not wrong and found["second"] == "right",
        "date": datetime.now(UTC).date().isoformat(),
        **found,
    }
    text = json.dumps([*kept, new], indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
