"""Which verifiers go with which drafts."""

from collections.abc import Sequence

from gpu.drafters.draft import Drafter, Structure
from gpu.verify import Verifier
from theory.errors import BadInput


def fits(verifier: Verifier, structure: Structure, drafter: Drafter) -> bool:
    """Whether the three go together."""
    if drafter.only_chains and structure.kind != "chain":
        return False
    if verifier.name == "greedy-block" and not drafter.stateless:
        return False
    return structure.kind in verifier.drafts


def fitting(
    structures: Sequence[Structure], verifiers: Sequence[Verifier], drafter: Drafter
) -> list[tuple[Structure, Verifier]]:
    """The pairs that go together, structure by structure; BadInput where there is none."""
    found = [(shape, each) for shape in structures for each in verifiers if fits(each, shape, drafter)]
    if not found:
        raise BadInput(f"no verifier asked for is made for these drafts of {drafter.name}")
    return found
