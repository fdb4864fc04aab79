"""python -m tests.engines vllm --environment DIR: every setting of the engine, by both checks."""

import json
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import click

from tests.engines.engine import Engine, serving
from tests.engines.independent import PROMPTS, drawn, z_values

SURE, QUIET = 6.0, 4.0
"""|z| above which the second check rejects, and below which it finds nothing."""
WAYS = {"100 texts a request": (400, 100), "one text a request": (200, 1)}
"""How texts are asked for -> (texts of each prompt, texts together)."""


@click.command()
@click.argument("name", type=click.Choice(["vllm"]))
@click.option("--environment", type=click.Path(path_type=Path), help="Kept, and used again if it is there.")
@click.option("--setting", "only", multiple=True, help="Only this setting; may be repeated.")
@click.option("--port", default=8123, show_default=True)
def main(name: str, environment: Path | None, only: tuple[str, ...], port: int) -> None:
    """Judges an engine's servers; exit status 0 if every setting is as docs/engines.md records."""
    engine: Engine = import_module(f"tests.engines.{name}").ENGINE
    with tempfile.TemporaryDirectory() as folder:
        place = (environment or Path(folder) / "environment").resolve()
        if not (place / "bin").is_dir():
            click.echo(f"making an environment for {engine.name} {engine.version} in {place}", err=True)
            engine.install(place)
        ok = True
        for setting in engine.settings:
            if not only or setting.name in only:
                log = Path(folder) / "server.log"
                started = time.monotonic()
                with serving(engine, setting, place, port, log) as url:
                    zs = {way: second(url, *how) for way, how in WAYS.items()}
                    found, said = judged(url)  # afterwards: what it asks for may end the server
                largest = max(abs(z) for each in zs.values() for z in each)
                agree = largest > SURE if setting.expected == "rejected" else largest < QUIET
                right = found == setting.expected and agree
                ok &= right
                click.echo(f"{engine.name} {engine.version}, {setting.name}: {found} ({said})")
                for way, each in zs.items():
                    click.echo(f"  second check, {way}: z " + " ".join(f"{z:+.1f}" for z in each))
                note = "as recorded" if right else f"NOT as recorded ({setting.expected})"
                click.echo(f"  {note}; {time.monotonic() - started:.0f} s")
    sys.exit(0 if ok else 1)


def judged(url: str) -> tuple[str, str]:
    """What `draftproof endpoint` finds: "passes", "rejected" or "undecided", and which checks rejected."""
    run = [sys.executable, "-m", "draftproof", "endpoint", url, "--json"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    said = ", ".join(answer["found"]) or "nothing found"
    if answer["stopped"]:
        said += f"; ended early: {answer['stopped'][:80]}"
    words = {0: "passes", 1: "rejected", 3: "undecided"}
    return words.get(done.returncode, "failed"), said


def second(url: str, texts: int, together: int) -> list[float]:
    """The z values of one way of asking."""
    from tests.engines.vllm import PAIR

    drawn_texts = {tuple(prompt): drawn(url, prompt, texts, together) for prompt in PROMPTS}
    return z_values(str(PAIR / "target"), drawn_texts)


if __name__ == "__main__":
    main()
