"""The command `claims`."""

from itertools import chain

import click

from draftproof.proofs_check.claims.review import review
from draftproof.simulators import screen
from draftproof.simulators.commands.options import json_option


@click.command()
@click.argument("names", nargs=-1, metavar="[CLAIM]...")
@click.option("--paper", metavar="PAPER", help="Only a paper's: 2403.10444, or words of its title.")
@click.option("--list", "listed", is_flag=True, help="One line a claim, as recorded; nothing is checked.")
@click.option("--all", "everything", is_flag=True, help="Check slow verdicts again too.")
@json_option
def claims(names: tuple[str, ...], paper: str | None, listed: bool, everything: bool, as_json: bool) -> int:
    """Every registered theorem with its verdict, what stands behind it, and how to reproduce it.

    CLAIM is the name of a claim, or of a paper as --paper takes it. Verdicts that take at most a few seconds
    are checked again, those of named claims in any case. Exit status 0, or 1 if a verdict differs from the
    recorded one.
    """
    found = review(*names, paper=paper, everything=everything, listed=listed, shown=None)
    lines = [f"{claim.key}: {claim.verdict}; {claim.source}" for claim in found.claims]
    if not listed:
        lines = [*chain(*map(found.lines, found.claims)), str(found)]
    screen.answer(found.to_dict(), "\n".join(lines), as_json)
    return int(not found.ok)
