"""docs/claims.md, as text: generated, never written by hand.

python docs/claims_page.py > docs/claims.md
"""

import re
from collections.abc import Iterable
from itertools import groupby

from draftproof.proofs_check.claims import CLAIMS, Claim
from draftproof.proofs_check.claims.claim import EVERY, REFUTED, SIZES, THEOREM

HEAD = """# Claims

The theorems in the registry `proofs_check/claims/`, by verdict. `draftproof claims KEY` decides one again;
`draftproof claims --paper 2403.10444` decides a paper's.
Rocq in a scope: Coq checked a proof too; Rocq of the code: of the verifier's Python, translated by a program.
The page is generated (`python docs/claims_page.py > docs/claims.md`); a test fails when it is stale.
"""
MEANS = {
    EVERY: "Of the verifier's own code: in Rocq, or by running it on any vocabulary ([proofs](proofs.md)).",
    THEOREM: "Coq checked a proof of the statement ([proofs](proofs.md)).",
    SIZES: "For all real p and q of the sizes listed, zeros included, by cells of signs.",
    REFUTED: "There are rational p and q on which exact enumeration shows otherwise.",
    "searched": "No counterexample in so many exact instances; nothing is proved.",
}
"""Verdict -> what it means, in the page's order."""

PLACE = r"(?:Theorem|Lemma|Corollary|Algorithm|Section|Equations?|Listing|Appendix) [\w.-]*\w"


def kind(claim: Claim) -> str:
    """The verdict of a claim, without the number of instances of a search."""
    return claim.verdict if claim.verdict in MEANS else "searched"


def short(source: str) -> str:
    """A source in short: keys, numbered places and pages of ours; `draftproof claims` prints the whole.

    >>> short("sun2025block, Section 2 (motivating example); our derivation; docs/selection.md")
    'sun2025block Section 2; ours; [selection](selection.md)'
    """
    parts = []
    for part in source.replace("draftproof, ", "our derivation; ").split("; "):
        keys = re.findall(r"[a-z]+20\d\d[a-z0-9]+", part)
        places = re.findall(PLACE, part) if keys else []
        pages = [f"[{each}]({each}.md)" for each in re.findall(r"docs/([\w-]+)\.md", part)]
        ours = ["ours"] if part == "our derivation" else ["open"] if part == "open" else []
        parts.append(" ".join([*keys, ", ".join(places), *pages, *ours]).strip())
    return "; ".join(filter(None, parts))


def row(claim: Claim) -> str:
    """One line of a table."""
    note = f" *{claim.note}*" if claim.note else ""
    too = claim.rocq and claim.verdict != THEOREM
    rocq = ", Rocq of the code" if "_code_" in claim.rocq else ", Rocq" if too else ""
    scope = claim.scope.replace("V = ", "V=") + rocq
    if kind(claim) == "searched":
        scope += f" ({claim.verdict.removeprefix('no counterexample in ').replace(' exact', '')})"
    cells = (f"`{claim.key}` {claim.statement}{note}", scope, short(claim.source))
    return " | ".join(cell.replace("|", "\\|") for cell in cells)


def page(claims: Iterable[Claim] = tuple(CLAIMS.values())) -> str:
    """The whole page."""
    lines = [HEAD]
    for verdict, chosen in groupby(sorted(claims, key=lambda each: [*MEANS].index(kind(each))), key=kind):
        lines += [f"## {verdict[0].upper()}{verdict[1:]}", "", MEANS[verdict], ""]
        lines += ["claim | scope | source", "--- | --- | ---", *map(row, chosen), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(), end="")
