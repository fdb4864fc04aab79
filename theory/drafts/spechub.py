"""The SpecHub pair: a sampled token and the hub token."""

from dataclasses import dataclass
from typing import ClassVar

from draftproof.theory.draft import Draft
from draftproof.theory.drafts.shape import Sized, every, grow
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row, descending, has_mass, without
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class SpecHub(Sized):
    """Two children a node (sun2024spechub): x0 ~ q; with the hub a = argmax q (ties by id),
    x1 = a if x0 is not a, else x1 ~ norm(q off a).
    """

    depth: int
    kind: ClassVar[str] = "spechub"
    label = kind
    largest: ClassVar[dict[str, int]] = {"depth": 12}

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        return Draft(grow(oracle, proposal, context, every(2, self.depth), sample_and_hub))

    def outcomes(self, support: int) -> int:
        return max(2 * (support - 1), 1) ** (2**self.depth - 1)


def sample_and_hub(oracle: Oracle, q: Row, count: int) -> list[int]:
    """x0 ~ q, then the hub; or, if x0 is the hub, a sample from the other tokens."""
    hub = descending(q)[0]
    x0 = oracle.choose(q)
    if x0 != hub:
        return [x0, hub]
    rest = without(q, hub)
    return [x0, oracle.choose(rest)] if has_mass(rest) else [x0]


SCHEME = SpecHub
