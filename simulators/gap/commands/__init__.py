"""The command `gap`, and one file for each thing it does: with an instance, without one, --vary, --worst."""

from simulators.gap.commands.gap import gap

COMMANDS = (gap,)
