"""Behaviour shared by all commands: imported when called, one-line errors, exit statuses."""

import io
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click

from draftproof.theory.errors import BadInput, located, printable, unknown

INTERRUPTED = 130

PROJECT = Path("pyproject.toml")
"""Its table [tool.draftproof] has a project's own defaults."""

REQUIRED = {"flint": "python-flint", "z3": "z3-solver", "ot": "pot"}
"""Packages without which nothing runs, by the modules whose names differ."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called: name -> (`package.module:NAME`, help line).

    The help line is shown in the group's --help; a command's own --help imports the command.
    """

    def __init__(self, name: str, where: Mapping[str, tuple[str, str]], **options: Any):
        super().__init__(name, **options)
        self.where = where

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.where)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.where:
            return None
        command = resolve_name(self.where[cmd_name][0])
        given = (ctx.default_map or {}).get(cmd_name)
        if given and not isinstance(command, click.Group):
            with located(f"{PROJECT}: {ctx.command_path.replace(' ', '.')}.{cmd_name}"):
                ctx.default_map = {cmd_name: _by_parameter(command, given)}
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in self.where and not (args[0].startswith("-") or ctx.resilient_parsing):
            raise unknown("command", args[0], self.where)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.where[name][1]) for name in self.list_commands(ctx)])


def _by_parameter(command: click.Command, given: Mapping[str, Any]) -> dict[str, Any]:
    # The values of options, written as in a file of settings, by the names that the command has for them.
    known = {name.lstrip("-").replace("-", "_"): each.name for each in command.params for name in each.opts}
    for each in command.params:
        known |= getattr(each.callback, "rare", {})
    for key in given:
        if key not in known:
            raise unknown("option", key, known)
    return {known[key] or key: value for key, value in given.items()}


def defaults(path: Path) -> dict[str, Any]:
    """The table [tool.draftproof] of a pyproject.toml: command -> option -> its default there. None if there
    is no such file or table; BadInput if the file is no TOML.
    """
    try:
        content = path.read_text(encoding="utf-8")
        return tomllib.loads(content).get("tool", {}).get("draftproof", {}) if "draftproof" in content else {}
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not TOML: {error}") from None
    except (OSError, UnicodeDecodeError):
        return {}


def enter(group: click.Group, arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    Bad input, from a wrong option to a wrong number in a file, is one line on standard error and
    status 2, and so is a full disk; Ctrl-C is status 130; a closed pipe ends quietly.
    """
    written = sys.stdout
    if isinstance(written, io.TextIOWrapper) and written.errors == "strict":
        written.reconfigure(errors="backslashreplace")  # file names may not be valid in the encoding
    try:
        given = {"prog_name": group.name, "default_map": defaults(PROJECT)}
        status = group.main(arguments, standalone_mode=False, **given)
        click.echo(nl=False)  # flushes standard output, if there is one
        return status if isinstance(status, int) else 0
    except BadInput as error:
        return _refuse(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.ClickException as error:
        return _refuse(error.format_message())
    except ModuleNotFoundError as error:
        package = REQUIRED.get((error.name or "").partition(".")[0])
        if package is None:
            raise
        return _refuse(f"{package} is not installed: pip install {package}")
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return 0
    except SystemExit:
        if sys.stdout is written:
            raise
        return 0  # click exits with 1 on a closed pipe, and 1 would be a verdict
    except OSError as error:
        _discard_output()
        fault = (error.strerror or str(error)).lower()
        return _refuse(f"{error.filename}: {fault}" if error.filename else fault)


def _discard_output() -> None:
    # Unwritten output stays in standard output's buffer; flushing it at exit would fail again.
    try:
        click.echo(nl=False)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _refuse(message: str) -> int:
    line = " ".join(line.strip() for line in message.splitlines())
    click.echo(f"draftproof: {printable(line)}", err=True)
    return 2
