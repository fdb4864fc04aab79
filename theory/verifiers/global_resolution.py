"""Global Resolution: a softmax rule from convex minimisation, and a correction that makes it exact.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> round(float(emission(scenario("toy", Tree(((), ()), True), 3), VERIFIER).expected_accepted), 6)
0.76
"""

from draftproof.theory.transport.resolution import resolve
from draftproof.theory.verifier import CHAIN, PATHS, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.khisti import selected


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Select a child by the float solver's weights, read as the exact numbers they are; the selected
    token's law d then follows exactly, and token verification against d corrects what the solver
    missed: accept with min(1, p/d), else Y ~ norm((p - d)+).
    """
    return selected(oracle, draft, target, resolve)


VERIFIER = Verifier(
    "global-resolution",
    "thomas2026global, global resolution for i.i.d. drafts",
    (*CHAIN, *PATHS, "tree with replacement"),
    lossless=True,
    verify=verify,
    ordered=True,
    node_by_node=True,
)
