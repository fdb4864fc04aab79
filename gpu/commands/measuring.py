"""Runs a command's measurements item by item, with a progress bar; an interruption keeps finished items."""

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

import click

from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED
from draftproof.theory.errors import BadInput

Item = TypeVar("Item")
Stop: TypeAlias = KeyboardInterrupt | BadInput | None
"""The exception that ended a measurement early, or None."""


def measured(
    items: Iterator[Item], unit: str, total: int, name: Callable[[Item], str], advice: str
) -> tuple[list[Item], Stop]:
    """The items up to the end, Ctrl-C or BadInput, and what ended them early. BadInput before the first item
    is raised. `advice` is printed if memory runs out.
    """
    from draftproof.gpu.sampling.device import memory_errors

    found: list[Item] = []
    with screen.progress(unit) as bar:
        task = bar.add_task("preparing", total=total)
        try:
            with memory_errors(advice):
                for item in items:
                    found.append(item)
                    bar.update(task, description=name(item), completed=len(found))
        except (KeyboardInterrupt, BadInput) as stop:
            if isinstance(stop, BadInput) and not found:
                raise
            return found, stop
    return found, None


def status(stop: Stop, finished: str, failed: bool) -> int:
    """The exit status once results are printed. After Ctrl-C prints `finished`; raises BadInput again."""
    if isinstance(stop, BadInput):
        raise stop
    if stop is not None:
        click.echo(f"interrupted: {finished}", err=True)
        return INTERRUPTED
    return int(failed)
