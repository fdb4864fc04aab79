"""The command group `gpu`: one file a command, none of which imports torch at its top."""

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
    "bench": "How fast verification is; with --model, how fast decoding is.",
    "generate": "Continue a text by speculative decoding, with any verifier and draft.",
    "record": "Rows of a target and a drafter, for `draftproof gap --rows`.",
    "train": "Train a target, a drafter and a feature drafter from nothing.",
    "validate": "Does decoding with real models follow the target's law?",
    "verify": "Are the batched verifiers those of the exact engine?",
}

gpu = _NeedsTorch(
    "gpu",
    {name: (f"{__name__}.{name}:COMMAND", line) for name, line in HELP.items()},
    help="Batched torch, kernels and real models, on whatever device is there.",
)
"""`draftproof gpu ...`."""
