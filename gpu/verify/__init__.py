"""Verification algorithms in plain batched torch; `VERIFIERS` has those that theory/verifiers names.

Each computes `Rates` from a `Batch`, which also holds all random numbers. The reference is the exact verifier
of the same name in theory/verifiers.
"""

from dataclasses import replace

from draftproof.gpu.verify.batch import ERRORS, Batch, Drafts, Outcome
from draftproof.gpu.verify.verifier import Rates, Verifier
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.verifier import resolved
from draftproof.theory.verifiers import VERIFIERS as EXACT

VERIFIERS: dict[str, Verifier] = {
    each.name: replace(resolved(each.batched), name=each.name) for each in EXACT.values() if each.batched
}
"""Name -> verifier."""


def named(name: str) -> Verifier:
    """The verifier of that name; if there is none, raises BadInput with the known names."""
    if name not in VERIFIERS:
        raise BadInput(f"no GPU verifier is named {quoted(name)}; there are {', '.join(VERIFIERS)}")
    return VERIFIERS[name]


__all__ = ["ERRORS", "VERIFIERS", "Batch", "Drafts", "Outcome", "Rates", "Verifier", "named"]
