"""What proofs at every size assume, on exact instances: contracts, and how children are drawn."""

from collections import defaultdict
from functools import partial
from itertools import product
from math import prod

import pytest
from flint import fmpq

from draftproof.proofs_check.every_size.contracts import CONTRACTS, THEOREMS, digest
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory import rows
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import k_seq, lifted, lifted_k_seq
from draftproof.theory.verifiers.shared import modified_target, optimal, priority

PAIR, UNEVEN = ((), ()), (((),), ())
RATES = (fmpq(0), fmpq(1, 3), fmpq(6, 7), fmpq(1))


def instances(scheme, vocab=3, count=15):
    return list(Randoms(scheme, vocab, count))


def test_every_contract_was_tested_for_this_code():
    for function, (modules, tested, _) in CONTRACTS.items():
        assert digest(*modules) == tested, (
            f"test {function.__name__}'s contract again, then record the new hash"
        )


def test_every_theorem_was_proved_of_this_code():
    for theorem, proved, modules in THEOREMS.values():
        assert digest(*modules) == proved, f"compile {theorem} of the new code, then record its hash"


def given(instance, masses):
    """The mean mass that each token of a root gets, from the masses of its children in every draft."""
    taken = defaultdict(fmpq)
    for weight, draft in drafts(instance):
        shares = masses(draft)
        assert all(w >= 0 for _, w in shares)
        assert sum((w for _, w in shares), fmpq(0)) <= 1
        for child, w in shares:
            taken[child.token] += weight * w
    return [taken[x] for x in range(instance.vocab)]


@pytest.mark.parametrize(
    "scheme", [Chain(1), Tree(PAIR), Tree(PAIR, True), Tree(UNEVEN), Paths(2, 1)], ids=str
)
def test_a_plan_gives_no_token_more_than_the_row_has(scheme):
    for instance in instances(scheme):
        for rate in RATES:
            t = rows.scale(rate, instance.target[()])

            left: dict = {}

            def masses(draft, t=t, left=left):
                plan = lifted.planned(draft, draft.root, t)
                left.update(enumerate(plan.left))
                return plan.shares(draft.root)

            taken = given(instance, masses)
            assert all(mass <= most for mass, most in zip(taken, t, strict=True))
            assert [left[x] for x in range(instance.vocab)] == [a - b for a, b in zip(t, taken, strict=True)]


@pytest.mark.parametrize("scheme", [Chain(1), Tree(PAIR, True), Stratified(PAIR)], ids=str)
def test_the_priority_rule_gives_no_token_more_than_the_row_has(scheme):
    for instance in instances(scheme):
        for rate in RATES:
            t = rows.scale(rate, instance.target[()])

            left: dict = {}

            def masses(draft, t=t, left=left):
                plan = priority.planned(draft, draft.root, t)
                left.update(enumerate(plan.left))
                unkept, judged = fmpq(1), {}
                for child, chance in plan.judged(draft.root):
                    judged[child] = unkept * chance
                    unkept -= judged[child]
                shares = plan.shares(draft.root)
                assert [judged.get(child, 0) for child, _ in shares] == [w for _, w in shares]
                return shares

            taken = given(instance, masses)
            assert [left[x] for x in range(instance.vocab)] == [a - b for a, b in zip(t, taken, strict=True)]
            assert all(mass >= 0 for mass in left.values())


@pytest.mark.parametrize("module", [k_seq, lifted_k_seq], ids=lambda each: each.__name__)
@pytest.mark.parametrize("shape", [((),), PAIR, UNEVEN, ((), (), ((),))], ids=str)
def test_k_seq_gives_no_token_more_than_the_row_has(module, shape):
    for instance in instances(Tree(shape, True)):
        for rate in RATES:
            t = rows.scale(rate, instance.target[()])

            left: dict = {}

            def masses(draft, t=t, left=left):
                plan = module.planned(draft, draft.root, t)
                left.update(enumerate(plan.left))
                unkept, shares = fmpq(1), []
                for child, chance in plan.judged(draft.root):
                    shares.append((child, unkept * chance))
                    unkept -= unkept * chance
                assert module is k_seq or list(plan.shares(draft.root)) == shares
                return shares

            taken = given(instance, masses)
            assert [left[x] for x in range(instance.vocab)] == [a - b for a, b in zip(t, taken, strict=True)]
            assert all(mass >= 0 for mass in left.values())


@pytest.mark.parametrize(
    "scheme",
    [
        kind(shape)
        for kind in (partial(Tree, replacement=True), Stratified, Greedy)
        for shape in (PAIR, UNEVEN, ((), ((),), ()))
    ],
    ids=str,
)
@pytest.mark.parametrize("vocab", [2, 3, 4])
def test_the_optimum_gives_no_token_more_than_the_row_has(scheme, vocab):
    for instance in instances(scheme, vocab, 6):
        for rate in RATES:
            t = rows.scale(rate, instance.target[()])

            left: dict = {}

            def masses(draft, t=t, left=left):
                plan = optimal.planned(draft, draft.root, t)
                left.update(enumerate(plan.left))
                return plan.shares(draft.root)

            taken = given(instance, masses)
            assert [left[x] for x in range(instance.vocab)] == [a - b for a, b in zip(t, taken, strict=True)]
            assert all(mass >= 0 for mass in left.values())


def test_children_of_merged_paths_are_drawn_without_replacement():
    """Given the first child and the number of its paths, the second has the law of q without the first."""
    for instance in instances(Paths(3, 1), count=6):
        q = instance.proposal[()]
        second = defaultdict(lambda: defaultdict(fmpq))
        first = defaultdict(fmpq)
        for weight, draft in drafts(instance):
            tokens = [child.token for child in draft.root.children]
            first[tokens[0]] += weight
            if len(tokens) > 1:
                through = draft.drawn(draft.root).count(tokens[0])
                second[tokens[0], through][tokens[1]] += weight
        assert all(mass == q[x] for x, mass in first.items())
        for (x, _), law in second.items():
            mass = sum(law.values(), fmpq(0))
            assert all(part / mass == rows.without(q, x)[y] for y, part in law.items())


@pytest.mark.parametrize("scheme", [Chain(2), Chain(3)], ids=str)
def test_a_target_that_is_left_behind_has_the_rows_of_its_contract(scheme):
    """norm((P p - Q q)+) after drafted prefixes within the block; elsewhere the target's own row."""
    modified = 0
    for instance in instances(scheme, vocab=2, count=8):
        p, q = instance.target, instance.proposal
        for _, draft in drafts(instance):
            end = len(draft.path[-1].prefix)
            for stop in draft.path:
                after = modified_target.carry(p, q, draft, stop)
                for length in range(len(stop.prefix) + 1, end + 2):
                    for z in product(range(2), repeat=length):
                        P, Q = (prod((t[z[:i]][z[i]] for i in range(length)), start=fmpq(1)) for t in (p, q))
                        left = rows.excess(rows.scale(P, p[z]), rows.scale(Q, q[z]))
                        assert after[z] == (rows.normalise(left) if length < end else p[z])
                        modified += after[z] != p[z]
    assert modified


def test_excess_and_meet_are_one_formula_on_either_side_and_both_at_0():
    """Where p - q is 0 both formulas give the same, so that a proof may choose either."""
    p, q = (fmpq(1, 2), fmpq(1, 3), fmpq(1, 6)), (fmpq(1, 2), fmpq(1, 6), fmpq(1, 3))
    assert rows.excess(p, q) == tuple(fmpq(0) if a - b <= 0 else a - b for a, b in zip(p, q, strict=True))
    assert rows.meet(p, q) == tuple(a if a - b <= 0 else b for a, b in zip(p, q, strict=True))
