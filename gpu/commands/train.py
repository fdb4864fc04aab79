"""The command `gpu train`."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click import Choice, IntRange, argument, command, echo, option
from click import Path as PathType
from rich.progress import TaskID, TimeRemainingColumn

from draftproof.gpu.options import as_json
from draftproof.simulators import screen

EPOCHS = 4  # epochs after which the same text teaches a language model little more (muennighoff2023scaling)


@command("train")
@argument("out", type=PathType(path_type=Path, file_okay=False))
@option(
    "--preset",
    type=Choice(["tiny", "small", "gpu"]),
    default="small",
    show_default=True,
    help="Size: the pair included in the package, minutes on two cores, or one large GPU.",
)
@option(
    "--corpus",
    type=PathType(path_type=Path),
    help="A folder of text files [default: the sources of Python's standard library and, "
    "where they are less text than the preset asks for, of installed packages].",
)
@option("--seed", type=IntRange(min=0), default=0, show_default=True, help="Seed of weights and batches.")
@as_json
def COMMAND(out: Path, preset: str, corpus: Path | None, seed: int, as_json: bool) -> int:
    """Train a target, a drafter and a feature drafter from scratch, into the folder OUT.

    If a run is interrupted, the same command continues it. At the end OUT holds target/, drafter/ and
    features/ (safetensors), train.json with measurements on held-out text, and the loss curves as curve.json
    and, if matplotlib is installed, curve.png.
    """
    from draftproof.gpu.device import memory_errors
    from draftproof.gpu.train.run import train

    with screen.progress("steps") as bar, memory_errors("take a smaller --preset"):
        bar.columns += (TimeRemainingColumn(),)
        tasks: dict[str, TaskID] = {}

        def progress(stage: str, done: int, steps: int, loss: float) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=steps)
            last = "" if math.isnan(loss) else f" loss {loss:.3f}"
            bar.update(tasks[stage], description=stage + last, completed=done)

        answer = train(out, preset, corpus, seed, progress)
    if as_json:
        echo(json.dumps(answer))
        return 0
    for line in summary(answer):
        echo(line)
    echo(f"trained in {answer['seconds']:.0f} s (this run): draftproof gpu generate --model {out}")
    return 0


def summary(answer: dict[str, Any]) -> Iterator[str]:
    """The measurements, line by line; folders trained by earlier versions have fewer figures."""
    if "epochs" in answer:
        yield (
            f"text: {answer['characters']:,} characters, {answer['tokens']:,} tokens; "
            f"the target read {answer['epochs']:.2f} times as many"
        )
        if answer["epochs"] > EPOCHS:
            yield "the text was repeated so often that more text (--corpus) would make a better target"
    parameters, characters = answer["parameters"], answer.get("nats_per_character", {})
    for name in ("target", "drafter"):
        also = f", {characters[name]:.3f} a character" if characters else ""
        loss = answer["held_out_loss"][name]
        yield f"{name}: {parameters[name]:,} parameters; on held-out text {loss:.3f} nats a token{also}"
    overlaps = answer["overlap"]
    own = ", ".join(f"{each:.3f}" for each in overlaps["features"])
    yield f"features: {parameters['features']:,} parameters"
    yield f"sum min(p, q): drafter {overlaps['drafter']:.3f}; features {own} along their own rollouts"
