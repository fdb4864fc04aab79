"""A cascade of three models: a middle model verifies the drafter, and its tokens are the target's draft.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> from draftproof.theory.table import Table
>>> from draftproof.theory.verifiers import named
>>> middle, token = Table.exact(2, {(): ["1/2", "1/2"]}), named("token")
>>> toy = scenario("toy", Chain(2))
>>> emission(toy, cascade(middle, token, token)).total_variation
0
>>> emission(toy, cascade(middle, token, token, rows_of="drafter")).total_variation
1/12
"""

from functools import partial

from draftproof.theory.draft import chained
from draftproof.theory.rows import Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Stop, Verifier


def cascade(middle: Rows, inner: Verifier, outer: Verifier, *, rows_of: str = "middle") -> Verifier:
    """The outer verifier on what the inner one emits, as one verifier of the drafter's chain.

    The inner level emits the middle model's law if its verifier is lossless; the outer level is then right to
    take the middle model's rows for the law its draft was drawn from. `rows_of` = "drafter" is the mistake
    of handing on the drafter's rows for the tokens that the drafter proposed.
    """
    verify = partial(levels, middle, inner, outer, rows_of)
    lossless = inner.lossless and outer.lossless and rows_of == "middle"
    return Verifier(f"{inner.name} below {outer.name}", "ours", CHAIN, lossless, verify)


def levels(
    middle: Rows, inner: Verifier, outer: Verifier, rows_of: str, oracle: Oracle, draft: Draft, target: Rows
) -> Stop:
    """Both levels, for one draft."""
    node, row = inner.verify(oracle, draft, middle)
    word = (*node.prefix, oracle.choose(row))
    start = len(draft.root.prefix)
    laws: list[Row] = [middle[word[:i]] for i in range(start, len(word))]
    if rows_of == "drafter":
        kept = draft.path[: len(node.prefix) - start]
        laws[: len(kept)] = [each.proposal for each in kept]
    return outer.verify(oracle, Draft(chained(word, laws)), target)
