"""The command `gpu bench`."""

from pathlib import Path
from typing import Any

import click

from draftproof.gpu import spelling
from draftproof.gpu.options import DTYPE, VERIFIER, as_json, device, no_graphs
from draftproof.theory.errors import BadInput

FOR_KERNELS = ("vocab", "gamma", "batch")
FOR_BOTH = ("model", "device", "draft", "figure", "as_json")


@click.command("bench")
@device
@click.option(
    "--draft", multiple=True, help="chain or tree; with --model as for `gpu generate`. May be repeated."
)
@click.option("--vocab", type=click.IntRange(2, 2**20), multiple=True, metavar="V", help="May be repeated.")
@click.option("--gamma", type=click.IntRange(1, 32), multiple=True, metavar="G", help="May be repeated.")
@click.option("--batch", type=click.IntRange(1, 2**16), multiple=True, metavar="B", help="May be repeated.")
@click.option("--model", help="Decode with real models: a target as for `gpu generate`, or shipped.")
@click.option("--drafter", help="With --model: as for `gpu generate`.")
@click.option(
    "--verifier",
    type=VERIFIER,
    multiple=True,
    help="With --model; may be repeated [default: all that apply].",
)
@click.option(
    "--temperature", type=click.FloatRange(0), multiple=True, help="With --model [default: 0.2, 0.6, 1]."
)
@click.option(
    "--prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --model: one a line, or Spec-Bench's.",
)
@click.option("--count", type=click.IntRange(1), help="With --model: prompts at most [default: 4].")
@click.option("--repeats", type=click.IntRange(1), help="With --model [default: 3].")
@click.option("--max-new-tokens", type=click.IntRange(1), help="With --model: of each text [default: 64].")
@click.option("--seed", type=click.IntRange(0), help="With --model: of the first repeat [default: 0].")
@click.option("--dtype", type=DTYPE, help="With --model.")
@click.option(
    "--plot", "figure", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="A figure too."
)
@no_graphs
@as_json
def COMMAND(**options: Any) -> int:
    """How fast verification is; with --model, how fast decoding is, and how many tokens a step it gains.

    Without --model: verification from logits, beside the bandwidth floor, plain torch and peers. On a GPU:
    V 32k, 128k and 256k, gamma 4 and 8, B 1, 8, 64 and 256, chain and tree, bfloat16. Without one: a smaller
    grid of plain torch and transformers. The floor is one read of each logit at the copy bandwidth measured
    in the same run; ratios are to the case's first method. Exit status 1 when a case did not fit into memory,
    or one of our own methods did not run; a peer that is not there is no fault.

    With --model: tokens a second, mean acceptance length (the extra token counted), acceptance by
    position, time by phase, for every verifier, draft and temperature, beside plain decoding and
    transformers' own plain and assisted generation: same prompts, repeats interleaved, ratios with
    intervals. Each cell's mean acceptance length stands beside the one that its own rows predict; exit
    status 1 when a cell's do not agree. Verifiers are compared on their own texts, and on the same steps.

    Ctrl-C prints what was measured.
    """
    with_model = options["model"] is not None
    for name, value in options.items():
        other = name in FOR_KERNELS if with_model else name not in (*FOR_KERNELS, *FOR_BOTH)
        if other and value not in (None, ()):
            option = f"--{name.replace('_', '-')}"
            raise BadInput(f"{option} is for runs {'without' if with_model else 'with'} --model only")
    for draft in options["draft"]:
        if with_model:
            spelling.draft(draft)
        elif draft not in ("chain", "tree"):
            raise BadInput(f"--draft {draft}: without --model it is chain or tree")
    if with_model:
        from draftproof.gpu.throughput.command import measure
    else:
        from draftproof.gpu.kernel_bench.command import measure
    return measure(options)
