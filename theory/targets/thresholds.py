"""SGLang's acceptance thresholds below 1: a likely token is taken for sure, any other more often.

>>> from draftproof.simulators.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> toy = scenario("toy", Chain(2))
>>> judge_against(toy, TARGET.rule, TARGET).token.total_variation
1/9
>>> judge_against(toy, TARGET.at("1").rule, TARGET).lossless
True
"""

from flint import fmpq

from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import minimum, share, without
from draftproof.theory.table import Rows
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import CHAIN, Draft, Stop


def verify(threshold: fmpq, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """One coin u a node; the children in order, c the sum of their p so far: accept if u <= c / threshold
    or p(x) >= threshold. None accepted: Y ~ p without the children.
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


TARGET = Declared(
    "thresholds",
    "zheng2024sglang, speculative_accept_threshold_single and _acc",
    verify=verify,
    parameter=fmpq(1, 2),
    most=fmpq(1),
    drafts=(*CHAIN, "top-k"),
    ordered=True,
)
