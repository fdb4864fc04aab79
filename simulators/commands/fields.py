"""The fields of a verdict in JSON answers."""

from typing import Any

from draftproof.simulators.laws.against import AgainstVerdict, distances
from draftproof.simulators.laws.batches import BatchVerdict
from draftproof.simulators.laws.verdict import Verdict
from draftproof.theory.numbers import text
from draftproof.theory.targets import declared


def result(verdict: Verdict) -> dict[str, Any]:
    """A row of the results of `check`, as docs/api.md describes it."""
    return {
        "verifier": verdict.verifier,
        "instance": verdict.instance,
        "lossless": verdict.lossless,
        "declared": verdict.declared,
        "total_variation": text(verdict.total_variation),
        "expected_accepted": text(verdict.expected_accepted),
        **({"invalid": verdict.invalid} if verdict.invalid else {}),
        **(batch_fields(verdict) if isinstance(verdict, BatchVerdict) else {}),
        **(against_fields(verdict) if isinstance(verdict, AgainstVerdict) else {}),
    }


def against_fields(verdict: AgainstVerdict) -> dict[str, Any]:
    """The fields that an answer against a declared target adds to one against p."""
    law = declared(verdict.against)
    met = {"met": verdict.kept, **({} if verdict.over is None else {"over_budget": verdict.over})}
    return met | distances(law, verdict.token, verdict.block)


def batch_fields(verdict: BatchVerdict) -> dict[str, Any]:
    """The fields that an answer on a batch adds to one on an instance."""
    return {"selection": verdict.selection, "marginals": [text(each) for each in verdict.marginals]}
