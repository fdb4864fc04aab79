"""The command group `gpu`: one file per command, none of which imports torch at module level."""

import click

from draftproof.simulators.commands.entry import LazyGroup
from draftproof.theory.errors import BadInput

MISSING = "needs torch, which is not installed: pip install 'draftproof[gpu]'"


class _NeedsTorch(LazyGroup):
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] in ("torch", "triton", "transformers"):
                raise BadInput(f"gpu {MISSING}") from None
            raise


HELP = {
    "bench": "Measure the speed of decoding with real models.",
    "generate": "Continue a text by speculative decoding, with any verifier and draft.",
    "record": "Write rows of a target and a drafter, for `draftproof gap --rows`.",
    "validate": "Check that decoding with real models follows the target's law.",
    "verify": "Check that the batched verifiers decide as the exact engine does.",
}

gpu = _NeedsTorch(
    "gpu",
    {name: (f"{__name__}.{name}:COMMAND", line) for name, line in HELP.items()},
    help="Batched torch, kernels and real models, on a CPU or a GPU.",
    context_settings={"show_default": True},
)
"""`draftproof gpu ...`."""
