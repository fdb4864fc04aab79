"""Rules without a law of their own, which accept more than a lossless rule may: how far they get is measured.

>>> from draftproof.simulators.laws.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> toy = scenario("toy", Chain(2))
>>> [str(judge_against(toy, law.rule, law).token.total_variation) for law in DECLARED]
['2/15', '1/9', '2/27', '1/3']
"""

from flint import fmpq

from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, descending, excess, minimum, normalise, otherwise, share, without
from draftproof.theory.shared.divergence import entropy_exceeds
from draftproof.theory.table import Rows
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import CHAIN, Draft, Stop
from draftproof.theory.verifiers import typical

WINDOW = 2
"""FLy judges a mismatch with WINDOW - 1 tokens after it; one of the last WINDOW tokens is never excused."""

LIKELIEST = 3
"""FLy takes the entropy of so many likeliest tokens."""


def synthetic(rate: fmpq, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept every drafted token with the same probability, for benchmarks of speed; at the first rejection
    Y ~ norm((p - q)+).
    """
    *inner, leaf = draft.path
    for node in inner:
        if not oracle.accept(rate):
            p = target[node.prefix]
            return node, normalise(otherwise(excess(p, node.proposal), p))
    return leaf, target[leaf.prefix]


def thresholds(threshold: fmpq, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """SGLang below a threshold of 1: one coin u a node; the children in order, c the sum of their p so far:
    accept if u <= c / threshold or p(x) >= threshold. None accepted: Y ~ p without the children.
    """
    node = draft.root
    while node.children:
        p, below, tokens = target[node.prefix], threshold * 0, []
        for child in node.children:
            x = child.token
            if x in tokens:
                continue  # a sibling drawn twice was judged as its first copy
            if not p[x] < threshold:
                node = child
                break
            tokens.append(x)
            above = minimum(below + p[x], threshold)
            if oracle.accept(share(above - below, threshold - below)):
                node = child
                break
            below = above
        else:
            return node, without(p, *tokens)
    return node, target[node.prefix]


def deferred(entropy: fmpq, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """FLy: a drafted token matches if one of two draws from p is that token. A mismatch stands if the entropy
    of p is at least the parameter and the next WINDOW - 1 tokens match; else Y is the first draw.
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


def medusa(parameter: fmpq, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept a token when p(x) > min(epsilon, delta exp(-H(p))), as the verifier `typical` does."""
    return typical.verify(oracle, draft, target)


DECLARED = (
    Declared(
        "synthetic",
        "kwon2023vllm, rejection_sample_method synthetic",
        verify=synthetic,
        parameter=fmpq(7, 10),
        most=fmpq(1),
    ),
    Declared(
        "thresholds",
        "zheng2024sglang, speculative_accept_threshold_single and _acc",
        verify=thresholds,
        parameter=fmpq(1, 2),
        most=fmpq(1),
        drafts=(*CHAIN, "top-k"),
        ordered=True,
    ),
    Declared(
        "deferred",
        "li2025fly, released code, temperature above 0",
        verify=deferred,
        parameter=fmpq(3, 10),
        ordered=True,
    ),
    Declared("typical", typical.VERIFIER.source, verify=medusa, drafts=typical.VERIFIER.drafts, ordered=True),
)
