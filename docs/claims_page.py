"""docs/claims.md, as text: generated, never written by hand.

python docs/claims_page.py > docs/claims.md
"""

from collections.abc import Iterable
from itertools import groupby

from draftproof.proofs_check.claims import CLAIMS, Claim
from draftproof.proofs_check.claims.claim import EVERY, REACHED, REFUTED, SIZES, STATED

HEAD = """# Claims

The theorems in the registry `proofs_check/claims/`, by verdict. `draftproof claims KEY` decides one again;
`draftproof claims --paper 2403.10444` decides a paper's.
The page is generated (`python docs/claims_page.py > docs/claims.md`); a test fails when it is stale.
"""
MEANS = {
    EVERY: "The verifier's own code was run on rows of any vocabulary, by induction ([proofs](proofs.md)).",
    SIZES: "For all real p and q of the sizes listed, zeros included, by cells of signs.",
    REFUTED: "There are rational p and q on which exact enumeration shows otherwise.",
    "searched": "No counterexample in so many exact instances; nothing is proved.",
    REACHED: "What verifiers keep of a drafted token is proved from code; the rest is the paper's proof.",
    STATED: "Stated with its source; nothing was run.",
}
"""Verdict -> what it means, in the page's order."""


def kind(claim: Claim) -> str:
    """The verdict of a claim, without the number of instances of a search."""
    return claim.verdict if claim.verdict in MEANS else "searched"


def page(claims: Iterable[Claim] = tuple(CLAIMS.values())) -> str:
    """The whole page."""
    lines = [HEAD]
    for verdict, chosen in groupby(sorted(claims, key=lambda each: [*MEANS].index(kind(each))), key=kind):
        lines += [f"## {verdict[0].upper()}{verdict[1:]}", "", MEANS[verdict], ""]
        lines += ["| claim | source | scope | key |", "| --- | --- | --- | --- |"]
        for claim in chosen:
            text = claim.statement + (f" *{claim.note}*" if claim.note else "")
            text += f" *{claim.verdict}*" if verdict == "searched" else ""
            rocq = ", Rocq" if "Rocq" in claim.behind else ""
            cells = (text, claim.source, claim.scope + rocq, f"`{claim.key}`")
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(), end="")
