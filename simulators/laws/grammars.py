"""The two laws that a grammar can mean: rows without forbidden tokens, and p given a valid whole text."""

from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from draftproof.simulators.laws.verdict import judge
from draftproof.theory.instance import Instance
from draftproof.theory.law import WORDS, law_of
from draftproof.theory.numbers import text
from draftproof.theory.targets.processors import Mask, Processed
from draftproof.theory.verifier import Verifier

PROJECTED = "locally projected law"


@dataclass(frozen=True)
class OtherLaw:
    """The law that an instance's verdict is about, the other one that its grammar can mean, how far they are
    apart over the whole text, and E[tau] against the other.
    """

    judged: str
    other: str
    total_variation: fmpq
    expected_accepted: fmpq

    @property
    def answer(self) -> dict[str, Any]:
        """The fields as JSON."""
        return {name: x if isinstance(x, str) else text(x) for name, x in vars(self).items()}


def other_law(instance: Instance, verifier: Verifier, tokens: int) -> OtherLaw | None:
    """What else the target's masks can mean; None without a mask, and for more than WORDS texts. A mask that
    states no length is compared with the law given a valid text of so many tokens.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.targets.processors import processed
    >>> from draftproof.theory.verifiers import named
    >>> once = Mask("a", {"a": {"0": "b", "1": "c"}, "b": {"0": "b"}, "c": {"0": "c", "1": "c"}})
    >>> half = context_free(["1/2", "1/2"], ["1/2", "1/2"], Chain(1))
    >>> other_law(processed(half, [(once, "both")]), named("token"), 2).total_variation
    1/6
    """
    target = instance.target
    masks = [each for each in getattr(target, "processors", ()) if isinstance(each, Mask)]
    stated = max((mask.whole or 0 for mask in masks), default=0)
    whole, length = (None, stated) if stated else (tokens, tokens)
    if not masks or instance.vocab**length > WORDS:
        return None
    steps = [replace(step, whole=whole) if isinstance(step, Mask) else step for step in target.processors]  # type: ignore[attr-defined]
    other = replace(instance, target=Processed(target, steps))
    conditional = f"law given a valid text of {length} tokens"
    return OtherLaw(
        conditional if stated else PROJECTED,
        PROJECTED if stated else conditional,
        law_of(target, length).total_variation(law_of(other.target, length)),
        judge(other, verifier).expected_accepted,
    )
