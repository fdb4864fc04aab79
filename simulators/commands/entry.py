"""Behaviour shared by all commands: imported when called, one-line errors, exit statuses."""

import io
import os
import sys
from collections.abc import Mapping, Sequence
from pkgutil import resolve_name
from typing import Any

import click

from draftproof.theory.errors import BadInput, printable

INTERRUPTED = 130

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
        return resolve_name(self.where[cmd_name][0]) if cmd_name in self.where else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.where[name][1]) for name in self.list_commands(ctx)])


def enter(group: click.Group, arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    Bad input, from a wrong option to a wrong number in a file, is one line on standard error and
    status 2, and so is a full disk; Ctrl-C is status 130; a closed pipe ends quietly.
    """
    written = sys.stdout
    if isinstance(written, io.TextIOWrapper) and written.errors == "strict":
        written.reconfigure(errors="backslashreplace")  # file names may not be valid in the encoding
    try:
        status = group.main(arguments, prog_name=group.name, standalone_mode=False)
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
