"""Deferred acceptance, as FLy does it: a mismatch stands if the tokens after it match again.

>>> from draftproof.simulators.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> judge_against(scenario("toy", Chain(1)), TARGET.rule, TARGET).token.total_variation
2/27
"""

from flint import fmpq

from draftproof.theory.divergence import entropy_exceeds
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, descending, normalise, without
from draftproof.theory.table import Rows
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import Draft, Stop

WINDOW = 2
"""A mismatch is judged with WINDOW - 1 tokens after it; one of the last WINDOW tokens is never excused."""

LIKELIEST = 3
"""The entropy is that of so many likeliest tokens."""


def verify(entropy: fmpq, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """A drafted token matches if one of two draws from p is that token. A mismatch stands if the entropy of p
    is at least the parameter and the next WINDOW - 1 tokens match; else Y is the first draw.
    """
    *inner, leaf = draft.path
    rows = [target[node.prefix] for node in inner]
    tokens = [child.token for child in draft.path[1:]]
    matches = [oracle.accept(p[x] * (2 - p[x])) for p, x in zip(rows, tokens, strict=True)]
    for i, (node, p) in enumerate(zip(inner, rows, strict=True)):
        later = matches[i + 1 : i + WINDOW]
        excused = i + WINDOW < len(tokens) and all(later) and uncertain(p, entropy)
        if not matches[i] and not excused:
            return node, without(p, tokens[i])
    return leaf, target[leaf.prefix]


def uncertain(p: Row, entropy: fmpq) -> bool:
    """Whether the entropy of the likeliest tokens, as a law of their own, is at least the bound."""
    stay = descending(p)[:LIKELIEST]
    row = normalise(tuple([mass if x in stay else mass * 0 for x, mass in enumerate(p)]))
    return not entropy > 0 or entropy_exceeds(row, entropy)


TARGET = Declared(
    "deferred",
    "li2025fly, released code, temperature above 0",
    verify=verify,
    parameter=fmpq(3, 10),
    ordered=True,
)
