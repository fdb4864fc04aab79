"""docs/claims.md, as text: generated, never written by hand.

python docs/claims_page.py > docs/claims.md
"""

from collections.abc import Iterable

from draftproof.proofs_check.claims import CLAIMS, Claim
from draftproof.proofs_check.induction import THEOREMS

HEAD = """# Claims

Every theorem in the registry `proofs_check/claims/`, with its verdict. This page is generated from the
registry (`python docs/claims_page.py > docs/claims.md`); a test fails when it is stale.

| verdict | means |
| --- | --- |
| proved for every vocabulary and depth | the verifier's own code was run ([proofs](proofs.md)) |
| argument checked, not tied to the code | every size, typed by hand: a broken verifier changes nothing |
| argument only | the same, without a step that the program could check |
| argument checked, verifiers run at every size | what it says of verifiers is proved from their code |
| proved for the sizes listed | for all real p and q of those sizes, zeros included, by cells of signs |
| no counterexample in N exact instances | searched only, in exact rationals; nothing is proved |
| refuted | there are rational p and q on which exact enumeration shows otherwise |

| behind the verdict | means |
| --- | --- |
| code run | the verifier's own code, at every size |
| sign cells | the code that the claim is about was run on symbols |
| exact instances | that code was run on rational instances |
| Rocq | Coq checked a proof of a program that is compared with the code ([proofs](proofs.md)) |
| argument | nothing was run |

Seconds are CPU seconds on a 2-core x86-64 virtual machine, rounded up.
"""


def page(claims: Iterable[Claim] = tuple(CLAIMS.values())) -> str:
    """The whole page."""
    lines = [
        HEAD,
        "| claim | source | scope | verdict | behind it | reproduce | s |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for claim in claims:
        text = claim.statement + (f" *{claim.note}*" if claim.note else "")
        decided = claim.scope, claim.verdict, ", ".join(claim.behind)
        cells = (text, claim.source, *decided, f"`{claim.command}`", f"{claim.seconds:g}")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    lines += ["", "## What the induction proofs assume and check"]
    for theorem in THEOREMS.values():
        lines += ["", f"### {theorem.key}", "", theorem.statement, ""]
        lines += [f"* assumed: {line}" for line in theorem.assumed]
        lines += [f"* checked: {step.statement}" for step in theorem.steps]
        lines += [] if theorem.steps else ["* no step that the program could check"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
