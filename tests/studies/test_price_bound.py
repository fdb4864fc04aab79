"""What a simpler rule can cost: bounds above every instance, witnesses near below."""

import re
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.files import read
from draftproof.simulators.support.make import prefixes
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import exact
from draftproof.theory.table import Table
from studies import price_bound
from studies.price_bound import token_against_block
from studies.worst import most, recursive_against_optimum, share, tokens

WITNESSES = Path(__file__).parents[2] / "docs" / "prices"


def weights(vocab):
    return st.lists(st.integers(0, 9), min_size=vocab, max_size=vocab).filter(any)


@st.composite
def instances(draw, draft, vocab):
    tables = []
    for _ in "pq":
        rows = {prefix: draw(weights(vocab)) for prefix in prefixes(vocab, draft.depth - 1)}
        exact = {prefix: tuple(fmpq(n, sum(row)) for n in row) for prefix, row in rows.items()}
        tables.append(Table(vocab, exact))
    return Instance(*tables, draft)


PAIRS = {
    "token-block": ("token", "block"),
    "token-full": ("token", "full-information"),
    "block-full": ("block", "full-information"),
    "recursive-optimum": ("specinfer", "stateless"),
    "priority-optimum": ("priority", "stateless"),
    "without-optimum": ("rrs", "stateless"),
    "traversal-recursive": ("traversal", "specinfer"),
    "recursive-traversal": ("specinfer", "traversal"),
}
PAGE = (WITNESSES.parent / "prices.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(WITNESSES.glob("*.json")), ids=lambda path: path.stem)
def test_witnesses_reach_what_the_page_says_and_no_bound_is_further_than_a_thousandth(path):
    instance, (rule, against) = read(path), PAIRS[path.stem.rstrip("-0123456789")]
    bound, reached = most(rule, against, instance.draft), 1 / share(instance, rule, against)
    (said,) = re.findall(rf"\[([\d./]+)\]\(prices/{path.stem}.json\)", PAGE)
    assert reached == exact(said) if "/" in said else 0 <= reached - exact(said) < fmpq(1, 10**6)
    assert bound is None or reached <= bound <= reached + fmpq(1, 1000)


def test_constants_in_closed_form():
    assert 3 * token_against_block(2) ** 2 >= 4 > 3 * (token_against_block(2) - fmpq(1, 10**4)) ** 2
    assert recursive_against_optimum(2) <= fmpq(23, 27) < recursive_against_optimum(2) + fmpq(1, 10**6)
    assert token_against_block(1) == recursive_against_optimum(1) == 1


@given(st.data(), st.sampled_from([(Chain(2), 2), (Chain(3), 2), (Chain(2), 3)]))
def test_no_chain_is_above(data, case):
    draft, vocab = case
    instance = data.draw(instances(draft, vocab))
    assert 1 <= 1 / share(instance, "token", "block") <= BOUNDS[draft.depth]


BOUNDS = {gamma: token_against_block(gamma) for gamma in (2, 3)}


@given(st.data(), st.integers(2, 4), st.integers(2, 4))
def test_no_node_is_below(data, k, vocab):
    instance = data.draw(instances(Tree(every(k, 1), True), vocab))
    assert recursive_against_optimum(k) <= share(instance, "specinfer", "stateless") <= 1


@given(st.integers(2, 6), st.integers(1, 60), st.integers(1, 60))
def test_two_tokens_where_alpha_is_one(k, a, b):
    x = fmpq(a, a + b)
    node = Instance(
        Table(2, {(): (x**k, 1 - x**k)}), Table(2, {(): (x, 1 - x)}), Tree(every(k, 1), replacement=True)
    )
    assert share(node, "specinfer", "stateless") == 1 - x**k + x ** (2 * k - 1)


def test_more_tokens_cost_more():
    found = [token_against_block(gamma) for gamma in (1, 2, 3, 4)]
    assert found == sorted(found)


def forgetful(low, high, slope, less, n):
    # A program that forgets the tokens still to come.
    return CONJUGATE(low, high, slope, less, 0)


def rounded_down(low, high, slope, less, n):
    # One that takes the bound at the ends of a cell a hundredth too low.
    return CONJUGATE(low, high, slope, less + (2**33 // 100), n)


CONJUGATE = price_bound._conjugate
BELOW = 21050
"""c for three tokens a little below 9/7, so that the program decides and not c."""


@pytest.mark.parametrize("broken", [forgetful, rounded_down])
def test_a_broken_program_falls_below_its_witness(monkeypatch, broken):
    monkeypatch.setattr(price_bound, "_conjugate", broken)
    monkeypatch.setitem(price_bound.NEAR, 3, BELOW)
    assert token_against_block(3) < fmpq(9, 7)


@pytest.mark.parametrize("c", [16384, BELOW])
def test_the_bound_holds_wherever_it_is_computed(monkeypatch, c):
    monkeypatch.setitem(price_bound.NEAR, 3, c)
    assert token_against_block(3) >= fmpq(9, 7)


@pytest.mark.parametrize(
    ("rule", "against", "draft"),
    [
        ("block", "token", Chain(2)),
        ("block", "full-information", Chain(3)),
        ("token", "block", Chain(9)),
        ("specinfer", "stateless", Tree(every(2, 1), False)),
        ("specinfer", "stateless", Tree(every(2, 2), True)),
        ("priority", "stateless", Tree(every(2, 1), True)),
    ],
)
def test_where_nothing_is_proved_there_is_no_bound(rule, against, draft):
    assert most(rule, against, draft) is None


AT_MOST = {2: "1.1548", 3: "1.2858", 4: "1.4016", 5: "1.5094", 6: "1.6153", 7: "1.7181", 8: "1.8191"}
"""gamma -> what docs/prices.md says of it, rounded up."""


@pytest.mark.slow
@pytest.mark.parametrize("gamma", AT_MOST)
def test_the_bounds_of_the_page(gamma):
    assert token_against_block(gamma) <= exact(AT_MOST[gamma])


def dropped(e: fmpq, gamma: int) -> Instance:
    """A token that is always drafted and has probability e; then, with probability e, the token that the
    target is sure of; then p = q.
    """
    sure, same = (fmpq(1), fmpq(0)), {(0,) + (1,) * n: (fmpq(0), fmpq(1)) for n in range(1, gamma - 1)}
    target = {(): (e, 1 - e), (0,): sure[::-1], **same}
    return Instance(Table(2, target), Table(2, {(): sure, (0,): (1 - e, e), **same}), Chain(gamma))


@pytest.mark.parametrize("gamma", [2, 3, 4])
def test_the_dropped_token_comes_near_gamma(gamma):
    e = fmpq(1, 1000)
    found = [tokens(dropped(e, gamma), name) for name in ("block", "token")]
    assert found[0] / found[1] == (1 + gamma * e) / (1 + e + (gamma - 1) * e * e)
    block, token = (each - 1 for each in found)
    assert block / token == gamma / (1 + (gamma - 1) * e)
