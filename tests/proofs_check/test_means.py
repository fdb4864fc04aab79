"""E[tau] for all p and q."""

from draftproof.proofs_check.means import (
    accepted,
    block_mean,
    compare,
    formula,
    greedy_mean,
    mean_on,
    token_mean,
)
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.verifiers import named


def chain(name, depth=2):
    return accepted(named(name), Chain(depth))


def test_closed_forms():
    assert compare(chain("token"), formula(token_mean), 2, Chain(2)).relation == "equal"
    assert compare(chain("block"), formula(block_mean), 2, Chain(2)).relation == "equal"
    assert compare(chain("greedy-block"), formula(greedy_mean), 2, Chain(2)).relation == "equal"


def test_a_wrong_closed_form_is_not_equal():
    assert compare(chain("block"), formula(token_mean), 2, Chain(2)).relation == "never below"


def test_the_lower_one_is_refuted_with_a_witness():
    found = compare(chain("token"), chain("block"), 2, Chain(2))
    assert found.relation == "refuted"
    assert found.witness is not None
    token, block = (mean_on(found.witness, named(name), Chain(2)) for name in ("token", "block"))
    assert token < block


def test_lossy_rules_may_accept_more():
    assert compare(chain("hsd-released"), chain("block"), 2, Chain(2)).relation == "never below"
