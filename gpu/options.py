"""Options that several commands of `draftproof gpu` have; what they name is judged before torch is there."""

from typing import TypeVar

import click

from draftproof.gpu import spelling

Names = TypeVar("Names", str, tuple[str, ...])


def known_drafts(_: click.Context, __: click.Parameter, given: Names) -> Names:
    """The callback of `--draft`: BadInput for what is no structure."""
    for each in (given,) if isinstance(given, str) else given:
        spelling.draft(each)
    return given


def _without_graphs(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from draftproof.gpu.graphs import without_graphs

        context.with_resource(without_graphs())


VERIFIER = click.Choice(spelling.VERIFIERS)
DTYPE = click.Choice(["float32", "bfloat16", "float16"])

model = click.option(
    "--model", help="Target: a folder, a transformers name, or what `gpu train` made [default: shipped]."
)
device = click.option(
    "--device", help="A torch device, such as cuda:0 [default: cuda where there is one, else cpu]."
)
no_graphs = click.option(
    "--no-graphs",
    is_flag=True,
    expose_value=False,
    callback=_without_graphs,
    help="On a GPU: launch every operation by itself, not passes as CUDA graphs.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
