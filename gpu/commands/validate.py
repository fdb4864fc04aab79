"""The command `gpu validate`."""

import json
from pathlib import Path
from time import monotonic
from typing import Any

import click

from draftproof.gpu.options import DTYPE, VERIFIER, as_json, device, known_drafts, model, no_graphs
from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED

OPENINGS = ("import os\n\n\nclass ", "def main():\n", '"""Read and write', "    for i in range(")
"""Prompts that leave the next tokens open, before those that `gpu bench` takes."""

MANY = 128
"""Prompts at most among which the worst one for a faint specimen is sought."""


@click.command("validate")
@model
@click.option("--drafter", help="Likewise, or features, ngram [default: trained with the target, or ngram].")
@click.option(
    "--draft",
    "drafts",
    multiple=True,
    callback=known_drafts,
    help="As for `gpu generate`; may be repeated [default: five].",
)
@click.option(
    "--verifier",
    "verifiers",
    type=VERIFIER,
    multiple=True,
    help="May be repeated [default: all].",
)
@click.option("--specimens/--no-specimens", default=True, help="The lossy verifiers that must be noticed.")
@click.option(
    "--only", multiple=True, metavar="SPECIMEN", help="Of the specimens; may be repeated [default: all]."
)
@click.option("--prompts", "file", type=click.Path(path_type=Path, dir_okay=False), help="One prompt a line.")
@click.option("--runs", type=click.IntRange(1), default=500, show_default=True, help="Decodings a law.")
@click.option(
    "--length", type=click.IntRange(1, 6), default=3, show_default=True, help="Tokens of a law's words."
)
@click.option(
    "--top-k",
    type=click.IntRange(1, 16),
    multiple=True,
    default=(2, 4),
    show_default=True,
    help="Of the laws.",
)
@click.option("--max-new-tokens", type=click.IntRange(1), default=32, show_default=True, help="Of the texts.")
@click.option("--temperature", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True)
@click.option("--batch", type=click.IntRange(1), default=500, show_default=True, help="Rows decoded at once.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@device
@click.option(
    "--dtype",
    type=DTYPE,
    default="float32",
    show_default=True,
    help="Narrow types round the law that is compared with, too.",
)
@no_graphs
@as_json
def COMMAND(**options: Any) -> int:
    """Does decoding with real models follow the target's law, and is acceptance what its rows predict?

    For every verifier on every draft: greedy text beside the target's own by transformers, token for token;
    the joint law of the first tokens beside its enumeration, by an anytime-valid test; tau beside E[tau]
    computed from the rows of the same steps, with an interval that holds at error 1e-6, position by
    position, and beside the stateless and full-information bounds. Lossy specimens must be noticed. Exit
    status 0 when all is as expected, 1 when not, 2 for bad input. Ctrl-C prints what was finished.
    """
    from draftproof.gpu.device import memory_errors
    from draftproof.gpu.validate.show import document, summary, tables
    from draftproof.theory.errors import BadInput

    started = monotonic()
    with memory_errors("take a smaller model or another --device"):
        validation = _prepared(options)
    cells: list[Any] = []
    status: int | None = None
    error: BadInput | None = None
    with screen.progress("cells") as bar:
        total = len(validation.cells)
        task = bar.add_task("validating", total=total)
        try:
            with memory_errors("what was finished is above; take a smaller --batch"):
                for cell in validation.run():
                    cells.append(cell)
                    said = f"{cell.draft} {cell.verifier}"
                    bar.update(task, description=said, completed=len(cells))
        except KeyboardInterrupt:
            status = INTERRUPTED
        except BadInput as raised:
            error = raised
    if error is not None and not cells:
        raise error
    complete = status is None and error is None
    about = {
        "model": validation.target.name,
        "drafter": validation.drafter.name,
        "device": str(validation.target.device),
        "dtype": options["dtype"],
        "seconds": round(monotonic() - started, 1),
    }
    if options["as_json"]:
        click.echo(json.dumps(document(cells, validation.plan, about, complete)))
    elif cells:
        screen.console().print(*tables(cells))
        click.echo(f"{summary(cells)}\n{about['seconds']} s on {about['device']}")
    if error is not None:
        raise error
    if status is not None:
        click.echo(f"interrupted: {len(cells)} of {total} cells were finished", err=True)
        return status
    return int(any(cell.problems for cell in cells))


def _prepared(options: dict[str, Any]) -> Any:
    import torch

    from draftproof.gpu.drafters.choose import pair
    from draftproof.gpu.prompts import prompts
    from draftproof.gpu.structures import structure
    from draftproof.gpu.validate.run import DRAFTS, Plan, Validation
    from draftproof.gpu.validate.specimens import specimens_of
    from draftproof.gpu.verify import VERIFIERS, named
    from draftproof.theory.errors import BadInput

    structures = [structure(each) for each in options["drafts"] or DRAFTS]
    verifiers = [named(name) for name in options["verifiers"] or VERIFIERS]
    specimens = specimens_of(options["only"])
    dtype = getattr(torch, options["dtype"])
    target, drafter = pair(options["model"], options["drafter"], options["device"], dtype)
    if drafter is None:
        raise BadInput("--drafter none: there is nothing to validate without a draft")
    asked = ("runs", "length", "batch", "seed", "temperature", "top_k")
    plan = Plan(**{key: options[key] for key in asked}, tokens=options["max_new_tokens"])
    many = prompts(options["file"], target, count=MANY)
    given = many[:8]
    if options["file"] is None:
        given = [target.tokenizer.encode(text) for text in OPENINGS] + given[: 8 - len(OPENINGS)]
    lossy = specimens if options["specimens"] else ()
    return Validation(target, drafter, structures, verifiers, given, plan, lossy, many)
