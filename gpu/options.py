"""Options shared by the commands of `draftproof gpu`; they check names before torch is loaded."""

from functools import partial
from typing import TypeVar

from click import Choice, Context, Parameter, option

from draftproof.gpu import spelling

Names = TypeVar("Names", str, tuple[str, ...])


def known_drafts(_: Context, __: Parameter, given: Names) -> Names:
    """The callback of `--draft`: BadInput for an unknown structure."""
    for each in (given,) if isinstance(given, str) else given:
        spelling.draft(each)
    return given


def _without_graphs(context: Context, _: Parameter, given: bool) -> None:
    if given:
        from draftproof.gpu.graphs import GRAPHS

        context.call_on_close(partial(GRAPHS.reset, GRAPHS.set(False)))


MODEL = "Target: a folder, a transformers name, or what `gpu train` made [default: shipped]."
DEVICE = "A torch device, such as cuda:0 [default: cuda if there is one, else cpu]."
GRAPHS = "On a GPU: launch every operation separately instead of replaying CUDA graphs."
VERIFIER = Choice(spelling.VERIFIERS)
DTYPE = Choice(["float32", "bfloat16", "float16"])

model = option("--model", help=MODEL)
device = option("--device", help=DEVICE)
no_graphs = option("--no-graphs", is_flag=True, expose_value=False, callback=_without_graphs, help=GRAPHS)
as_json = option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
