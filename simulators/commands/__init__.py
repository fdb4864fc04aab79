"""The commands `check` and `law`, one file each; `options` are shared by other rooms' commands."""

from simulators.commands.check import check
from simulators.commands.law import law

COMMANDS = (check, law)
