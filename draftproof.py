"""The front door: mounts each package's commands and holds no logic."""

import sys
from importlib.metadata import version

import click

from simulators.commands import COMMANDS
from simulators.door import enter


@click.group(
    name="draftproof", commands=list(COMMANDS), context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(version("draftproof"), message="%(version)s")
def draftproof() -> None:
    """Is this speculative-decoding verifier lossless, and how far is it from optimal?"""


def main() -> None:
    """The command `draftproof`."""
    sys.exit(enter(draftproof))


if __name__ == "__main__":
    main()
