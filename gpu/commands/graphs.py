"""An option of the commands that decode."""

import click


def _without(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from gpu.engine.recorder import without_graphs

        context.with_resource(without_graphs())


no_graphs = click.option(
    "--no-graphs",
    is_flag=True,
    expose_value=False,
    callback=_without,
    help="On a GPU: launch every operation by itself, not passes as CUDA graphs.",
)
