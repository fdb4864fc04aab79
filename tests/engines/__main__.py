"""python -m tests.engines NAME --environment DIR: every setting of the engine, by both checks."""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from urllib.error import HTTPError

import click

from tests.engines.engine import NO_SERVER, PAIR, Engine, Setting, Way, serving
from tests.engines.independent import PROMPTS, off, z_values

SURE, QUIET, STRAY = 6.0, 4.0, 0.01
"""|z| above which the second check rejects, and below which it finds nothing; the share of forbidden tokens
above which it rejects (one rounding may keep a token at the bound of a filter that another drops).
"""
NAMES = "vllm", "vllm_watermark", "llama_cpp", "mlx_lm", "openvino", "transformers", "gemma4"
RUN = "python -m tests.engines"
REFUSES, ENDS, FORBIDDEN = "refused", "ends the server", "forbidden tokens"
RECORD = Path(__file__).parents[2] / "docs" / "engines.json"
"""What is known of each engine, version and setting, for programs that must refuse rollouts off policy."""


@click.command()
@click.argument("name", type=click.Choice(NAMES))
@click.option("--environment", type=click.Path(path_type=Path), help="Kept, and used again if it is there.")
@click.option("--setting", "only", multiple=True, help="Only this setting; may be repeated.")
@click.option("--port", default=8123, show_default=True)
@click.option("--brief", is_flag=True, help="Only two ways of the second check.")
@click.option("--write", is_flag=True, help="Record what was found in docs/engines.json.")
def main(
    name: str, environment: Path | None, only: tuple[str, ...], port: int, brief: bool, write: bool
) -> None:
    """Judges an engine's servers; exit status 0 if every setting is as its file expects."""
    if brief and write:
        raise click.UsageError("--write wants every way of the second check")
    engine: Engine = import_module(f"tests.engines.{name}").ENGINE
    engine = replace(engine, ways=dict(list(engine.ways.items())[: 2 if brief else None]))
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
                    record(engine, setting, {"command": f'{RUN} {name} --setting "{setting.name}"', **found})
    sys.exit(0 if ok else 1)


def both(engine: Engine, setting: Setting, place: Path, port: int, log: Path) -> dict:
    """What both checks find of a server with that setting. One that ends is started again."""
    click.echo(f"{engine.name} {engine.version}, {setting.name}")
    started, left = time.monotonic(), dict(engine.ways)
    zs: dict[str, list[float] | str] = {}
    verdict = said = ""
    rows: float | None = None
    while not verdict:
        with serving(engine, setting, place, port, log) as url:
            if engine.row and rows is None:
                ends = [prompt[:end] for prompt in PROMPTS for end in range(1, len(prompt) + 1)]
                rows = off(str(PAIR / "target"), {each: engine.row(url, each) for each in ends})
                click.echo(f"  log-probabilities: off those of transformers by {rows:.1e} at most")
            while left:
                name, way = next(iter(left.items()))
                del left[name]
                zs[name], words = second(engine, url, way, place)
                click.echo(f"  second check, {name}: {words}")
                if zs[name] == ENDS:
                    break
            else:
                verdict, said = (
                    (NO_SERVER, "") if setting.expected == NO_SERVER else judged(url, engine.model)
                )
                # last: what `endpoint` asks for may end the server
    seconds = round(time.monotonic() - started)
    click.echo(f"  endpoint: {verdict} ({said}); {seconds} s")
    largest = max((abs(z) for each in zs.values() if isinstance(each, list) for z in each), default=QUIET)
    wrong = largest > SURE or FORBIDDEN in zs.values()
    law = "wrong" if wrong else "right" if largest < QUIET else "unclear"
    return {"verdict": verdict, "said": said, "second": law, "z": zs, "rows_off": rows, "seconds": seconds}


def second(engine: Engine, url: str, way: Way, place: Path) -> tuple[list[float] | str, str]:
    """The z of one way to ask, or the word for what came instead; and what is printed of it."""
    try:
        drawn = {prompt: engine.drawn(url, prompt, engine.length, way) for prompt in PROMPTS}
    except HTTPError as error:
        what = REFUSES if error.code == 400 else ENDS
        return what, f"{what}: HTTP {error.code}, {error.read(300).decode(errors='replace')}"
    except OSError as error:
        return ENDS, f"{ENDS}: {error}"
    target = place / engine.target if engine.target else PAIR / "target"
    zs, forbidden = z_values(str(target), way.sampling, drawn, way.again)
    words = " ".join(f"{z:+.1f}" for z in zs) + f"; {forbidden:.2%} of the tokens are forbidden"
    return FORBIDDEN if forbidden > STRAY else [round(z, 1) for z in zs], words


def judged(url: str, model: str) -> tuple[str, str]:
    """What `draftproof endpoint` finds: "passes", "rejected", "undecided" or "refused", and why."""
    run = [
        sys.executable,
        "-m",
        "draftproof",
        "endpoint",
        url,
        "--json",
        *(["--model", model] if model else []),
    ]
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
