"""The optimum of a node: alpha* of independent siblings of any rows, lossless, and its broken versions."""

import inspect
from dataclasses import replace
from itertools import product
from math import prod
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.proofs_check.prove import prove
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.draft import Node
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE, ZERO, exact
from draftproof.theory.rows import scale, total
from draftproof.theory.shared.strata import strata
from draftproof.theory.transport.siblings import independent_law
from draftproof.theory.transport.single_step import emitted, max_flow, subset_formula
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.lifted_priority import lifted
from draftproof.theory.verifiers.optimal import descend
from draftproof.theory.verifiers.shared import optimal as plans
from draftproof.theory.verifiers.shared import priority
from draftproof.theory.verifiers.shared.optimal import optimal
from draftproof.theory.verifiers.shared.priority import token_by_token
from tests.checks import assert_lossless, assert_same_law, is_lossy, mean_accepted
from tests.strategies import instances, rows

OPTIMAL, LIFTED = named("optimal"), named("lifted-optimal")
BOTH = pytest.mark.parametrize("verifier", [OPTIMAL, LIFTED], ids=lambda each: each.name)
SHAPES = (every(2, 2), ((), ((),)), (((), ()), ()), ((), (), ((),)))
DRAFTS = [kind(s) for s in SHAPES for kind in (lambda shape: Tree(shape, True), Stratified, Greedy)]
ONE_LEVEL = [Tree(every(3, 1), True), Stratified(every(2, 1)), Greedy(every(2, 1))]


def row(rng, vocab):
    """A row with small numerators, zeros among them."""
    parts = [rng.choice((0, 0, 1, 2, 3, 5, 8)) for _ in range(vocab)]
    parts[rng.randrange(vocab)] += 1
    return tuple([exact(part) / sum(parts) for part in parts])


def nodes(seed, count, vocab=6, siblings=4):
    """(t, laws): i.i.d. siblings, strata and any rows in turn; t is a row or, as in a lift, a part of one."""
    rng = Random(seed)
    for n in range(count):
        V, K = rng.randint(1, vocab), rng.randint(1, siblings)
        t, q = row(rng, V), row(rng, V)
        laws = ((q,) * K, strata(q, K), tuple(row(rng, V) for _ in range(K)))[n % 3]
        yield scale(exact(rng.choice((3, 7, 10, 10, 10))) / 10, t), laws


def flaw(plan, t, laws):
    """What is wrong with a plan of t, by every way that the siblings can be drawn; None if nothing is."""
    taken = [ZERO] * len(t)
    for tokens in product(*([x for x, mass in enumerate(R) if mass > 0] for R in laws)):
        chance = prod((R[x] for R, x in zip(laws, tokens, strict=True)), start=ONE)
        shares = [w for _, w in plan.shares(Node((), None, tuple(Node((x,), None) for x in tokens)))]
        if min(shares) < 0 or sum(shares, ZERO) > 1:
            return "no law"
        for x, w in zip(tokens, shares, strict=True):
            taken[x] += chance * w
    if [a + b for a, b in zip(taken, plan.left, strict=True)] != list(t) or min(plan.left) < 0:
        return "lossy"
    return None if sum(taken, ZERO) == subset_formula(t, independent_law(laws)) else "short"


@pytest.mark.parametrize("seed", range(10))
def test_it_is_lossless_and_keeps_alpha(seed):
    for t, laws in nodes(seed, 100):
        assert flaw(optimal(t, laws), t, laws) is None, (t, laws)


@given(rows(4), st.lists(rows(4), min_size=1, max_size=3).map(tuple))
def test_it_keeps_the_largest_flow_and_never_less_than_the_priority_rule(p, laws):
    kept = ONE - total(optimal(p, laws).left)
    draws = independent_law(laws)
    assert kept == total(emitted(max_flow(draws, p), p)) >= ONE - total(token_by_token(p, laws).left)


BROKEN = {
    "more kept than t has": ("tuple(map(share, t, lead))", "(one(t),) * len(t)"),
    "more kept of one token than t has": (
        "tuple(map(share, t, lead))",
        "(one(t), *map(share, t[1:], lead[1:]))",
    ),
    "half of t kept": ("tuple(map(share, t, lead))", "tuple(map(share, scale(one(t) / 2, t), lead))"),
    "the rate of the whole inclusion": ("tuple(map(share, t, lead))", "tuple(map(share, t, pi))"),
    "the rate of another token": ("chance * self.rate[x]", "chance * self.rate[x - 1]"),
    "the extra token from all of t": ("excess(t, lead)", "t"),
    "the extra token from what leads too often": ("excess(t, lead)", "excess(lead, t)"),
    "the extra token from what pi leaves": ("excess(t, lead)", "excess(t, pi)"),
    "the first order for all": ("in self.chances.items()", "in [(next(iter(self.chances)), one(self.left))]"),
    "orders whatever their chance": ("kept[x] + chance * self", "kept[x] + self"),
    "orders turned": ("for x in order if x in kept", "for x in order[::-1] if x in kept"),
    "the first drafted leads": ("next(x for x in order if x in kept)", "node.children[0].token"),
    "the last order counts": ("kept[x] = kept[x] + chance", "kept[x] = chance"),
    "every copy kept with all of the mass": ("mass / len(heirs[x])", "mass"),
    "a sibling forgotten": ("prod(rest[1:], start=rest[0])", "prod(rest[1:], start=rest[-1])"),
    "siblings as one": ("prod(rest[1:], start=rest[0])", "rest[0]"),
    "a token leads by the last sibling alone": ("lead[x] = before - none", "lead[x] = laws[-1][x] * before"),
    "no token leads before another": (
        "rest = [positive(mass - R[x]) for mass, R",
        "rest = [1 - R[x] for mass, R",
    ),
    "i.i.d. siblings in place of any": (
        "optimal(t, draft.laws(node))",
        "optimal(t, draft.laws(node)[:1] * 2)",
    ),
    "chances below 0": ("if part < 0]", "if part < -9]"),
    "done with the first order": ("if min(bounds) <=", "if min(bounds) >="),
    "done by a bound of the wrong tokens": ("rows[order][x] - t[x]", "t[x] - rows[order][x]"),
    "orders by t alone": ("(t[x] - lead[x]) / pi[x]", "t[x]"),
    "what leads too often is put first": ("reverse=True", "reverse=False"),
    "the rate of the first token": ("chance * self.rate[x]", "chance * self.rate[0]"),
    "the first child's share alone": ("each.shape not in heirs[each.token]", "each is not node.children[0]"),
    "a token leads whenever one up to it is drafted": ("lead[x] = before - none", "lead[x] = 1 - none"),
    "a token leads whenever none is drafted up to it": ("lead[x] = before - none", "lead[x] = none"),
}
"""One edit in the plan's source."""


@pytest.mark.parametrize("edit", BROKEN.values(), ids=BROKEN)
def test_broken_versions_are_refused(edit):
    source = inspect.getsource(plans)
    assert edit[0] in source
    scope: dict = {"__name__": "broken"}
    exec(source.replace(*edit), scope)

    class Independent:
        def __init__(self, laws):
            self.laws = lambda node: laws

    nearest, calls = scope["nearest"], []

    def counted(*arguments):
        calls.append(arguments)
        if len(calls) > 20:
            raise ArithmeticError("it does not end")
        return nearest(*arguments)

    scope["nearest"] = counted

    def found(t, laws):
        calls.clear()
        try:
            return flaw(scope["planned"](Independent(laws), None, t), t, laws)
        except (ArithmeticError, ValueError, StopIteration):
            return "raises"

    assert any(found(t, laws) for t, laws in nodes(0, 120, 4, 3))


@given(instances("chain"))
def test_chains_are_verified_token_by_token_and_as_blocks(instance):
    assert_same_law(instance, OPTIMAL, named("token"))
    assert_same_law(instance, LIFTED, named("block"))


@BOTH
@pytest.mark.parametrize("draft", DRAFTS, ids=str)
@settings(max_examples=5)
@given(data=st.data())
def test_the_law_is_exact_on_every_shape(verifier, draft, data):
    assert_lossless(data.draw(instances(draft)), verifier)


@pytest.mark.parametrize("draft", ONE_LEVEL, ids=str)
@settings(max_examples=20)
@given(data=st.data())
def test_at_one_node_the_lift_is_the_rule(draft, data):
    assert_same_law(data.draw(instances(draft, vocab=3)), OPTIMAL, LIFTED)


@settings(max_examples=20)
@given(data=st.data())
def test_greedy_siblings_are_accepted_as_by_the_rule_made_for_them(data):
    instance = data.draw(instances(Greedy(every(data.draw(st.integers(1, 3)), 1)), vocab=3))
    assert mean_accepted(instance, OPTIMAL) == mean_accepted(instance, named("hu-greedy"))


@pytest.mark.parametrize(
    "draft", [Tree(every(3, 1), True), Stratified(every(2, 1)), Stratified(every(3, 1))], ids=str
)
def test_equal_rows_are_accepted_whenever_no_token_is_drafted_too_often(draft):
    p = ["1/2", "1/4", "1/4"]
    assert mean_accepted(context_free(p, p, draft), OPTIMAL) == 1


def test_one_token_and_zeros():
    assert mean_accepted(context_free(["1"], ["1"], Tree(every(3, 1), True)), OPTIMAL) == 1
    for p, accepted in ((["1", "0"], 1), (["0", "1"], 0)):
        assert mean_accepted(context_free(p, ["1", "0"], Tree(every(2, 1), True)), OPTIMAL) == accepted


def test_floats_are_planned_as_the_rationals_that_they_are():
    for t, laws in nodes(3, 60, 5, 3):
        floats = optimal(tuple(map(float, t)), tuple(tuple(map(float, R)) for R in laws))
        assert all(isinstance(mass, float) for mass in (*floats.chances.values(), *floats.rate, *floats.left))
        assert sum(floats.left) == pytest.approx(float(total(optimal(t, laws).left)), abs=1e-12)


@BOTH
def test_siblings_without_replacement_are_not_for_it(verifier):
    instance = context_free(["1/2", "1/4", "1/4"], ["3/5", "1/5", "1/5"], Tree(((), ((), ()))))
    assert is_lossy(instance, verifier)


@pytest.mark.parametrize(
    "draft", [Tree(every(2, 2), True), Stratified(every(2, 2)), Stratified((((),), ()))], ids=str
)
def test_its_lift_accepts_more_than_that_of_the_priority_rule(draft):
    ours, other = (
        sum((emission(each, rule).expected_accepted for each in Randoms(draft, 3, 12)), ZERO)
        for rule in (LIFTED, named("lifted-priority"))
    )
    assert ours > other


@pytest.mark.parametrize("shape", [(((), ()), ()), (((),), ())], ids=str)
def test_where_earlier_siblings_have_more_below_them_the_lift_is_not_below_the_priority_rules(shape):
    for each in Randoms(Tree(shape, True), 3, 6):
        ours, other = (emission(each, named(f"lifted-{name}")) for name in ("optimal", "priority"))
        assert ours.total_variation == 0
        assert ours.expected_accepted >= other.expected_accepted


def test_a_plan_that_is_chosen_by_what_was_drafted_is_refused():
    def chosen(draft, node, t):
        return (priority.planned if node.children[0].token else plans.planned)(draft, node, t)

    rule = replace(LIFTED, verify=lambda *given: lifted(*given, chosen))
    assert is_lossy(next(iter(Randoms(Tree(((), ()), True), 3, 1))), rule)


LOSSY = [
    "more kept than t has",
    "more kept of one token than t has",
    "half of t kept",
    "the rate of the whole inclusion",
    "the rate of another token",
    "the extra token from all of t",
    "the extra token from what leads too often",
    "the extra token from what pi leaves",
    "the first order for all",
    "orders whatever their chance",
    "orders turned",
    "the first drafted leads",
    "the last order counts",
    "every copy kept with all of the mass",
    "siblings as one",
    "a token leads by the last sibling alone",
    "no token leads before another",
    "the rate of the first token",
    "the first child's share alone",
    "a token leads whenever one up to it is drafted",
    "a token leads whenever none is drafted up to it",
]
"""Those that lose the law of one pair of i.i.d. siblings over two tokens."""


def test_twenty_broken_versions_are_refused_in_either_way():
    assert min(len(set(BROKEN.values())), len(set(LOSSY))) >= 20


SECONDS = (
    "no token leads before another",
    "a token leads by the last sibling alone",
    "a token leads whenever none is drafted up to it",
)
"""Those whose cells take seconds."""


@pytest.mark.parametrize(
    "name", [None, *(pytest.param(each, marks=[pytest.mark.slow] * (each in SECONDS)) for each in LOSSY)]
)
def test_the_prover_decides_plans_for_all_real_rows(name):
    """By sign cells: the plan is proved, and its broken versions are refuted."""
    scope: dict = {"__name__": "broken"}
    exec(inspect.getsource(plans).replace(*BROKEN.get(name, ("", ""))), scope)
    rule = replace(OPTIMAL, verify=lambda *given: descend(*given, scope["planned"]))
    found = prove(rule, Tree(every(2, 1), True), 2)
    assert found.verdict == ("refuted" if name else "proved")
