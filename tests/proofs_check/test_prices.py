"""Claims about prices, each with a broken version that it refuses."""

import pytest

from draftproof.proofs_check.claims.checks import NEVER_BELOW, compare, related
from draftproof.proofs_check.claims.claim import REFUTED, SIZES
from draftproof.proofs_check.claims.quantities import Quantity
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.names import scheme


def never_below(*pair, draft="chain:2", vocabs=(2,)):
    return related(NEVER_BELOW, pair, [(vocab, scheme(draft)) for vocab in vocabs])()


def siblings(share):
    return never_below("specinfer", f"{share} prefix minimum", draft="tree+:2x1", vocabs=(2, 3))


def test_two_tokens_need_two_over_root_three():
    assert never_below("97/84 tokens of token", "tokens of block") == SIZES
    assert never_below("15/13 tokens of token", "tokens of block") == REFUTED  # 1.1538


def test_in_accepted_tokens_alone_the_factor_is_gamma():
    assert never_below("2 token", "block") == SIZES
    assert never_below("19/10 token", "block") == REFUTED
    token, block = (Quantity(f"tokens of {name}").mean(Chain(1)) for name in ("token", "block"))
    assert compare(token, block, vocab=2, depth=1) == "equal"


@pytest.mark.slow
def test_block_against_full_information_needs_more_than_nothing():
    assert never_below("tokens of block", "tokens of greedy-block") == REFUTED


@pytest.mark.slow
@pytest.mark.long  # Rocq: `recursive_price`
def test_two_siblings_need_23_27ths():
    assert siblings("23/27") == SIZES


def test_more_than_23_27ths_is_refuted():
    assert siblings("6/7") == REFUTED
