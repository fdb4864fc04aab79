"""Options that commands share, and rare ones of a command, which are read from a TOML file."""

import tomllib
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import click

from draftproof.simulators.support.files import text_of
from draftproof.theory.errors import BadInput, unknown

PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)

NAMED = "a name, or one of your own as file.py:name or package.module:name"
"""What names a verifier."""

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
force_option = click.option(
    "--force", is_flag=True, help="Run verifiers also on drafts they are not made for."
)
certificate_option = click.option(
    "--certificate", type=FILE, help="Write what was found for the checker in proofs_check/certificates."
)

Option = Callable[[Any], Any]
"""A decorator that adds a click option."""


def settings(*rare: Option) -> Option:
    """Adds --settings FILE.toml. Its keys are the `rare` options, written as top_p for --top-p; the command
    gets their values or defaults as if they had been given on the command line. BadInput for an unknown key
    or a value of another kind.
    """
    holder = reduce(lambda made, add: add(made), rare, click.Command("settings"))
    known = {each.opts[0].lstrip("-").replace("-", "_"): each for each in holder.params}

    def read(context: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
        try:
            given = tomllib.loads(text_of(path)) if path else {}
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise BadInput(f"{path}: {error}") from None
        for key in (key for key in given if key not in known):
            raise BadInput(f"{path}: {unknown('setting', key, known)}")
        for key, parameter in known.items():
            default = context.lookup_default(parameter.name or key)
            default = parameter.get_default(context) if default is None else default
            value = parameter.process_value(context, given.get(key, default))
            if parameter.expose_value and parameter.name:
                context.params[parameter.name] = value
        return path

    read.rare = {key: parameter.name for key, parameter in known.items()}  # type: ignore[attr-defined]
    keys = ", ".join(known)
    return click.option("--settings", type=FILE, callback=read, help=f"TOML file with any of {keys}.")
