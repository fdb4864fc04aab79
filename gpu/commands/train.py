"""The command `gpu train`."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click import Choice, FloatRange, IntRange, argument, command, echo, option
from click import Path as PathType
from rich.progress import TaskID, TimeRemainingColumn

from draftproof.gpu.commands.options import as_json
from draftproof.simulators import screen
from draftproof.theory.errors import BadInput

EPOCHS = 4  # epochs after which the same text teaches a language model little more (muennighoff2023scaling)

PARTS = "fusion", "projections", "markov", "confidence", "none"
RANK = 32  # of a Markov head


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
@option(
    "--block",
    "parts",
    type=Choice(PARTS),
    multiple=True,
    default=("confidence",),
    show_default=True,
    help="What the block drafter has beside DFlash's parts: DFlare's fusion and projections, DSpark's Markov "
    "and confidence heads; may be repeated; none: nothing.",
)
@option(
    "--block-decay",
    type=FloatRange(0),
    help="The k-th token of a block has weight exp(-(k - 1) / this) [default: half a block; 0: all equal].",
)
@as_json
def COMMAND(
    out: Path,
    preset: str,
    corpus: Path | None,
    seed: int,
    parts: tuple[str, ...],
    block_decay: float | None,
    as_json: bool,
) -> int:
    """Train a target, a drafter, a feature drafter and a block drafter from scratch, into the folder OUT.

    If a run is interrupted, the same command continues it; a folder without a block drafter gets one. At the
    end OUT holds target/, drafter/, features/ and block/ (safetensors), train.json with measurements on
    held-out text, and the loss curves as curve.json and, if matplotlib is installed, curve.png.
    """
    from draftproof.gpu.drafters.block_diffusion import Variant
    from draftproof.gpu.sampling.device import memory_errors
    from draftproof.gpu.train.run import train

    if "none" in parts and len(parts) > 1:
        raise BadInput("--block none goes with no other --block")
    given: dict[str, Any] = {name: name in parts for name in ("fusion", "projections", "confidence")}
    variant = Variant(**given, markov=RANK if "markov" in parts else 0)

    with screen.progress("steps") as bar, memory_errors("take a smaller --preset"):
        bar.columns += (TimeRemainingColumn(),)
        tasks: dict[str, TaskID] = {}

        def progress(stage: str, done: int, steps: int, loss: float) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=steps)
            last = "" if math.isnan(loss) else f" loss {loss:.3f}"
            bar.update(tasks[stage], description=stage + last, completed=done)

        answer = train(out, preset, corpus, seed, progress, variant, block_decay)
    if as_json:
        echo(json.dumps(answer))
        return 0
    for line in summary(answer):
        echo(line)
    echo(f"trained in {answer['seconds']:.0f} s (this run): draftproof gpu generate --model {out}")
    return 0


def summary(answer: dict[str, Any]) -> Iterator[str]:
    """The measurements, line by line."""
    yield (
        f"text: {answer['characters']:,} characters, {answer['tokens']:,} tokens; "
        f"the target read {answer['epochs']:.2f} times as many"
    )
    if answer["epochs"] > EPOCHS:
        yield "the text was repeated so often that more text (--corpus) would make a better target"
    parameters = answer["parameters"]
    for name in ("target", "drafter"):
        loss, also = answer["held_out_loss"][name], answer["nats_per_character"][name]
        yield (
            f"{name}: {parameters[name]:,} parameters; on held-out text {loss:.3f} nats a token, "
            f"{also:.3f} a character"
        )
    overlaps = answer["overlap"]
    own = ", ".join(f"{each:.3f}" for each in overlaps["features"])
    yield f"features: {parameters['features']:,} parameters"
    yield f"sum min(p, q): drafter {overlaps['drafter']:.3f}; features {own} along their own rollouts"
    each = ", ".join(f"{each:.3f}" for each in overlaps["block"])
    yield f"block: {parameters['block']:,} parameters; sum min(p, q) of its tokens {each}"
