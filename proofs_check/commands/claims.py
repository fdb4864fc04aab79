"""The command `claims`."""

import json
import re
from typing import Any

import click

from draftproof.proofs_check.claims import CLAIMS
from draftproof.proofs_check.claims.claim import STATED, Claim
from draftproof.simulators import screen
from draftproof.simulators.commands.options import json_option
from draftproof.simulators.support.files import SHIPPED
from draftproof.theory.errors import BadInput

QUICK = 5.0  # verdicts that take at most so many seconds are checked again by default
NUMBER = re.compile(r"\d{4}\.\d{4,5}")


@click.command()
@click.argument("keys", nargs=-1, metavar="[CLAIM]...")
@click.option("--paper", metavar="PAPER", help="Only a paper's claims: 2403.10444, or its key sun2025block.")
@click.option("--list", "listed", is_flag=True, help="One line a claim, as recorded; nothing is checked.")
@click.option("--all", "everything", is_flag=True, help="Check slow verdicts again too.")
@json_option
def claims(keys: tuple[str, ...], paper: str | None, listed: bool, everything: bool, as_json: bool) -> int:
    """Every registered theorem with its verdict, what stands behind it, and how to reproduce it.

    Verdicts that take at most a few seconds are checked again, those of named claims in any case.
    Exit status 0, or 1 if a verdict differs from the recorded one.
    """
    for key in keys:
        if key not in CLAIMS:
            raise BadInput(f"no claim is named {key[:40]!r}; `draftproof claims` lists them")
    chosen = [CLAIMS[key] for key in dict.fromkeys(keys)] or list(CLAIMS.values())
    if paper is not None:
        chosen = [claim for claim in chosen if in_source(paper).lower() in claim.source.lower()]
        if not paper.strip() or not chosen:
            raise BadInput(f"no claim is about the paper {paper[:40]!r}; `claims --list` shows sources")
    if listed and not as_json:
        for claim in chosen:
            click.echo(f"{claim.key}: {claim.verdict}; {claim.source}")
        return 0
    found: dict[str, str | None] = {}
    with screen.progress("claims") as bar:
        task = bar.add_task("checking", total=len(chosen))
        for claim in chosen:
            again = not listed and (bool(keys) or everything or claim.seconds <= QUICK)
            found[claim.key] = claim.check() if again else None
            bar.advance(task)
    ok = all(found[claim.key] in (None, claim.verdict) for claim in chosen)
    if as_json:
        click.echo(json.dumps({"claims": [_document(claim, found[claim.key]) for claim in chosen], "ok": ok}))
        return int(not ok)
    for claim in chosen:
        _print(claim, found[claim.key])
    checked = sum(now is not None for now in found.values())
    verdict = "every verdict checked is as recorded" if ok else "NOT every verdict is as recorded"
    unchecked = sum(claim.verdict == STATED for claim in chosen)
    click.echo(f"{len(chosen)} claims, {checked} checked now: {verdict}")
    click.echo(f"{unchecked} of them rest on the paper's proof, not checked here")
    return int(not ok)


def in_source(paper: str) -> str:
    """The words by which a claim's source names this paper: the key in references.bib of an arXiv number or
    address, else the text itself.

    >>> in_source("https://arxiv.org/abs/2403.10444v2"), in_source("weng2025traversal")
    ('sun2025block', 'weng2025traversal')
    """
    if (number := NUMBER.search(paper)) is None:
        return paper
    entries = (SHIPPED / "references.bib").read_text(encoding="utf-8").split("\n@")
    cited = (entry for entry in entries if f"eprint = {{{number[0]}}}" in entry)
    return next((re.split("[{,]", entry)[1] for entry in cited), paper)


def _document(claim: Claim, found: str | None) -> dict[str, Any]:
    said = {name: getattr(claim, name) for name in ("statement", "source", "scope", "verdict")}
    made = {"found": found, "command": claim.command, "seconds": claim.seconds}
    return {"claim": claim.key, **said, "behind": list(claim.behind), **made}


def _print(claim: Claim, found: str | None) -> None:
    outcome = "checked" if found == claim.verdict else f"NOW: {found}"
    said = outcome if found else "recorded, not checked now"
    click.echo(f"{claim.key}: {claim.verdict} ({', '.join(claim.behind)}) [{said}]")
    click.echo(f"  {claim.statement}\n  {claim.source}; {claim.scope}")
    if claim.note:
        click.echo(f"  {claim.note}")
    click.echo(f"  {claim.command}   (about {claim.seconds:g} s)")
