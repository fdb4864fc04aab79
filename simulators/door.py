"""How every command behaves at the door: help, one-line errors, exit statuses."""

import sys
from collections.abc import Sequence

import click

from theory.errors import BadInput

INTERRUPTED = 130


def enter(group: click.Group, arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    Bad input, from a wrong option to a wrong number in a file, is one line on standard error and
    status 2; Ctrl-C is status 130; a closed pipe ends quietly.
    """
    try:
        status = group.main(arguments, prog_name=group.name, standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except BadInput as error:
        return _refuse(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.ClickException as error:
        return _refuse(error.format_message())
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _refuse(message: str) -> int:
    click.echo("draftproof: " + " ".join(message.split()), err=True)
    return 2
