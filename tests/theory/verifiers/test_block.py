import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law
from draftproof.theory.numbers import exact
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named
from tests.checks import along, assert_same_law, block_optimum, block_weight, emitted, mean_accepted, stops
from tests.problems import TOY
from tests.strategies import instances, rows, tables

BLOCK, TOKEN = named("block"), named("token")


@given(instances("chain"))
def test_acceptance_is_the_closed_form(instance):
    assert mean_accepted(instance, BLOCK) == block_optimum(instance)


@given(instances(Chain(3), vocab=2))
def test_a_prefix_is_kept_with_probability_w(instance):
    """Pr(tau >= l | X^l) = w_l for every l and X^l, and no valid verifier has more."""
    ways = list(stops(instance, BLOCK))
    for length in (1, 2, 3):
        drafted = Law((draft.path[length].prefix, weight) for weight, draft, *_ in ways)
        kept = Law(
            (node.prefix[:length], weight) for weight, _, node, _ in ways if len(node.prefix) >= length
        )
        for word, mass in drafted.items():
            assert kept[word] == mass * block_weight(along(instance, word))


@given(instances("chain"))
def test_never_fewer_than_token_verification(instance):
    assert mean_accepted(instance, BLOCK) >= mean_accepted(instance, TOKEN)


@given(instances(Chain(1)))
def test_one_drafted_token_is_token_verification(instance):
    assert_same_law(instance, BLOCK, TOKEN)


@given(tables(2, 3))
def test_equal_models_accept_everything(target):
    equal = Instance(target, target, Chain(3))
    assert mean_accepted(equal, BLOCK) == 3
    assert_same_law(equal, BLOCK, TOKEN)


@pytest.mark.parametrize("one_hot", ["target", "proposal"])
@given(data=st.data())
def test_one_hot_models_are_token_verification(one_hot, data):
    spread = data.draw(tables(3, 2))
    point = Table.exact(3, {(): [1, 0, 0], (0,): [0, 0, 1], (2,): [0, 1, 0]})
    pair = (point, spread) if one_hot == "target" else (spread, point)
    assert_same_law(Instance(*pair, Chain(2)), BLOCK, TOKEN)


@given(rows(2), rows(2))
def test_depth_never_hurts(p, q):
    accepted = [
        mean_accepted(Instance(Table.exact(2, {(): p}), Table.exact(2, {(): q}), Chain(depth)), BLOCK)
        for depth in (1, 2, 3)
    ]
    assert accepted == sorted(accepted)


def test_on_the_toy_eleven_ninths_are_accepted():
    assert mean_accepted(TOY, BLOCK) == exact("11/9")


def test_on_the_toy_two_tokens_have_their_law():
    two = emitted(TOY, BLOCK).complete(TOY.target, 3).marginal(2)
    ninths = {(0, 0): 1, (0, 1): 2, (1, 0): 2, (1, 1): 4}
    assert two == Law({word: exact(f"{n}/9") for word, n in ninths.items()})
