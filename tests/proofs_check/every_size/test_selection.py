"""Batches at every size: what a verifier has to keep beyond being lossless at each depth, and what a rule may
read.
"""

from dataclasses import replace

import pytest

from draftproof.proofs_check.claims.claim import EVERY, UNDECIDED
from draftproof.proofs_check.claims.topics.selection import BatchRun
from draftproof.proofs_check.every_size import prove_every_size
from draftproof.simulators.instances.batches import Batches
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.laws.verdicts.batches import judge_batch
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.selection import RULES, named
from draftproof.theory.verifiers import token
from tests.mutants.selections import SELECTIONS, rule


def by_the_depth(oracle, draft, target):
    """Token verification of one token; of more tokens none is judged."""
    if len(draft.path) > 2:
        return draft.root, target[draft.root.prefix]
    return token.verify(oracle, draft, target)


def test_lossless_at_every_depth_is_not_enough():
    verifier = replace(token.VERIFIER, verify=by_the_depth)
    assert all(judge(each, verifier).lossless for depth in (1, 2) for each in Randoms(Chain(depth), 2, 8))
    stops = named("confidence-stop")
    assert not all(judge_batch(batch, verifier).lossless for batch in Batches(stops, 2, 2, 1, 2, 12))
    assert prove_every_size(verifier).verdict == "undecided"


def test_rules_that_their_view_holds_to_what_is_revealed_keep_the_law():
    assert BatchRun(("token",), tuple(name for name, each in RULES.items() if each.predictable))() == EVERY
    assert BatchRun(("hsd-released",), ("all",))() == UNDECIDED
    assert BatchRun(("hsd-naive",), ("all",))() == UNDECIDED  # lossless; not said to be fair


@pytest.mark.parametrize("select", SELECTIONS, ids=lambda each: each.__name__)
def test_rules_that_read_more_are_not_proved(select, monkeypatch):
    for predictable in (True, False):
        monkeypatch.setitem(RULES, "mine", rule(select, predictable))
        assert BatchRun(("token",), ("mine",))() == UNDECIDED
