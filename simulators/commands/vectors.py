"""The command `vectors`."""

import json
from pathlib import Path

import click

from draftproof.simulators.commands.options import FILE
from draftproof.simulators.instances.files import draft_of
from draftproof.simulators.study.vectors import vectors as made
from draftproof.simulators.support.files import replacing
from draftproof.simulators.user_code import named


@click.command(context_settings={"show_default": True})
@click.argument("verifier", metavar="VERIFIER")
@click.option("--vocab", type=click.IntRange(2), default=3, help="Vocabulary.")
@click.option("--depth", type=click.IntRange(1), default=2, help="Depth of the drafts.")
@click.option(
    "--draft", help="One draft in place of all that VERIFIER is made for: chain:2, tree:2x2 or JSON."
)
@click.option("--calls", type=click.IntRange(0), default=6, help="Random calls on each instance.")
@click.option("--seed", type=int, default=0, help="Seed of the random calls.")
@click.option("--output", type=FILE, help="File to write [default: standard output].")
@click.option("--json", is_flag=True, expose_value=False, help="Has no effect: the output is JSON.")
def vectors(
    verifier: str, vocab: int, depth: int, draft: str | None, calls: int, seed: int, output: Path | None
) -> int:
    """Test vectors for code in other languages.

    Writes one JSON document: every named scenario with VERIFIER's exact law, and calls: rows, a draft,
    uniforms, each choice that VERIFIER makes with them, and the tokens that follow.
    Its JSON Schema ships as docs/vectors.schema.json.
    """
    scheme = draft_of(draft) if draft is not None else None
    content = json.dumps(made(named(verifier), vocab, depth, scheme, calls, seed))
    if output is None:
        click.echo(content)
    else:
        with replacing(output) as part:
            part.write_text(content + "\n")
    return 0
