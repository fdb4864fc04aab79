"""The command group `gpu`: one file a command, with `COMMAND`, imported when it is asked for."""

from importlib import import_module
from pkgutil import iter_modules

import click

from theory.errors import BadInput

MISSING = "needs torch, which is not installed: pip install 'draftproof[gpu]'"


class _Folder(click.Group):
    """A group whose commands are the files of this folder; torch is imported by none of them at the top."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(module.name for module in iter_modules(__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        return import_module(f"{__name__}.{cmd_name}").COMMAND

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] in ("torch", "triton", "transformers"):
                raise BadInput(f"gpu {MISSING}") from None
            raise


gpu = _Folder("gpu", help="The same algorithms in batched torch, on whatever device is there.")
"""`draftproof gpu ...`."""
