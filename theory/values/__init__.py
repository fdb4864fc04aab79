"""E[tau] in closed form: sums over prefixes instead of an enumeration of drafts and decisions.

* `chains`: rules that verify a whole path, or the best-ranked of K paths;
* `lifts`: rules that verify from leaf to root: a subtree's probability of ending the walk is its entry rate.

Each form is exact and equals the enumeration of one iteration with `==`. Rules that go down node by node need
none: `draftproof.simulators.laws.nodes` runs them one node at a time.
"""

from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.verifiers import named


def expected_accepted(instance: Instance, name: str) -> fmpq:
    """E[tau] of the named verifier; BadInput if there is no closed form for the draft.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    >>> [expected_accepted(toy, name) for name in ("block", "greedy-block")]
    [11/9, 4/3]
    """
    form = named(name).form(instance.draft.label)
    if form is None:
        raise BadInput(f"{name[:40]} has no closed form of E[tau] on a draft of kind {instance.draft.label}")
    return form(instance)
