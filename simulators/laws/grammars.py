"""The two laws that a grammar can mean: rows without forbidden tokens, and p given a valid whole text."""

from dataclasses import replace
from typing import NamedTuple

from flint import fmpq

from draftproof.simulators.laws.verdict import judge
from draftproof.theory.instance import Instance
from draftproof.theory.law import WORDS, law_of
from draftproof.theory.targets.processors import Mask, Processed
from draftproof.theory.verifier import Verifier


class OtherLaw(NamedTuple):
    """The law that a verdict is about, the other one that the grammar can mean, how far apart they are over
    the whole text, and E[tau] against the other.
    """

    judged: str
    other: str
    total_variation: fmpq
    expected_accepted: fmpq


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
    steps = getattr(instance.target, "processors", ())
    stated = [each.whole for each in steps if isinstance(each, Mask)]
    length = max((whole or 0 for whole in stated), default=0) or tokens
    if not stated or instance.vocab**length > WORDS:
        return None
    whole = None if any(stated) else length
    others = [replace(each, whole=whole) if isinstance(each, Mask) else each for each in steps]
    other = replace(instance, target=Processed(instance.target, others))
    apart = law_of(instance.target, length).total_variation(law_of(other.target, length))
    names = ["locally projected law", f"law given a valid text of {length} tokens"]
    judged, alternative = names if whole else names[::-1]
    return OtherLaw(judged, alternative, apart, judge(other, verifier).expected_accepted)
