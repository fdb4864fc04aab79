"""Exact lanes: every number against rationals, and faults planted in the arithmetic and its bounds."""

import inspect
import sys
from collections import Counter
from dataclasses import replace
from math import lcm, prod
from types import ModuleType

import numpy as np
import pytest
from flint import fmpq

from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.laws.exact_lanes import lanes as lanes_module
from draftproof.simulators.laws.exact_lanes import residues
from draftproof.simulators.laws.exact_lanes.lanes import Lanes, decide
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import excess, maximum, minimum, normalise, one, point, share, total, without
from draftproof.theory.table import Table
from draftproof.theory.verifiers import VERIFIERS, named
from tests.mutants import edits, rules  # noqa: F401, they register mutants
from tests.mutants.registry import CATALOGUE
from tests.problems import LOPSIDED

LANES = 24


def weights(instances) -> Lanes:
    """Instances of one structure as lanes of whole-number weights."""

    def table(which):
        tables = [getattr(each, which) for each in instances]
        rows = {}
        for prefix in sorted({prefix for each in tables for prefix, _ in each.given()}, key=len):
            common = [lcm(*(int(x.q) for x in each[prefix])) for each in tables]
            whole = [[int(x * d) for x in each[prefix]] for each, d in zip(tables, common, strict=True)]
            rows[prefix] = np.array(whole).T.copy()
        return Table(tables[0].vocab, rows)

    return Lanes(table("target"), table("proposal"), instances[0].draft)


class Checked:
    """Numbers of a module's arithmetic with the rationals that they stand for, one a lane. Raises
    AssertionError where residues, float, error, factors or a comparison are wrong.
    """

    def __init__(self, module: ModuleType, count: int, seed: int):
        self.by = module.Arithmetic(LANES, count)
        self.random = np.random.default_rng(seed)
        self.factors, self.pool, self.seen = {}, [], []
        for whole in (7, 12, 0):
            w = self.random.integers(0, 9, (3, LANES)) + np.array([[1], [0], [0]])
            if whole:
                w = np.array([self.random.multinomial(whole, (0.4, 0.3, 0.3)) for _ in range(LANES)]).T
            row, sums = self.by.row(w), w.sum(axis=0)
            self.factors[next(iter(row.factors))] = [fmpq(int(s)) for s in sums]
            for x in range(3):
                exact = [fmpq(int(w[x, i]), int(sums[i])) for i in range(LANES)]
                self.keep(row[x], exact)
            self.keep(row.sum(axis=0), [fmpq(1)] * LANES)
        for _ in range(3):  # as far off as the error allows, and exact floats that round when they are used
            exact = [fmpq(int(k), 60) for k in self.random.integers(0, 61, LANES)]
            off = 0.3 * self.random.choice([-0.999, 0.999], LANES)
            self.given(exact, np.array(list(map(float, exact))) + off, 0.3, "sixtieths", 60)
            floats = self.random.integers(1, 2**53, LANES) / 2**53
            self.given([fmpq(*float(x).as_integer_ratio()) for x in floats], floats, 0.0, "floats", 2**53)
        whole = self.random.integers(2**20, 2**21, LANES)
        self.given([fmpq(int(x), 3**40) for x in whole], whole / 3.0**40, 2.0**-94, "larger", 3**40)
        self.given([fmpq(int(x)) for x in whole], whole.astype(float), 0.0, "large", 3**31)

    def given(self, exact, near, error, factor, size) -> None:
        by = self.by
        self.factors[factor], by.sizes[factor] = [fmpq(size)] * LANES, float(np.log2(size)) * 1.001
        by.heights[factor] = float(size)
        modulo = [[float(modulo_of(x, p)) for x in exact] for p in map(int, by.primes.flat)]
        self.keep(by.number(near, by.reduced(np.array(modulo)), error, Counter((factor,))), exact)

    def keep(self, number, exact) -> None:
        by, sure = self.by, ~self.by.undecided
        for i in np.flatnonzero(sure).tolist():
            x = exact[i]
            near = fmpq(*float(number.near[i]).as_integer_ratio())
            assert abs(near - x) <= fmpq(*float(number.error).as_integer_ratio()), "the float is off by more"
            for k, p in enumerate(map(int, by.primes.flat)):
                residue = float(number.residues[k, i])
                assert residue.is_integer(), "a residue is no whole number"
                assert abs(residue) <= p / 2 + 2, "a residue is too large for products"
                assert int(x.p) % p == int(residue) * (int(x.q) % p) % p, "a residue is wrong"
            product = prod((self.factors[f][i] ** e for f, e in number.factors.items()), start=fmpq(1))
            assert (x * product).q == 1, "a factor is missing"
            for factor in number.factors:
                assert abs(self.factors[factor][i]) <= 2 ** fmpq_bits(by.sizes[factor]), "a factor is larger"
        self.pool.append((number, exact))

    def settle(self, number, exact) -> None:
        if (whole := self.by.settled(number)) is not None:
            self.keep(number, exact)
            for i in np.flatnonzero(~self.by.undecided).tolist():
                product = prod((self.factors[f][i] ** e for f, e in number.factors.items()), start=fmpq(1))
                assert int(whole[i]) == exact[i] * product, "a float is rounded to another number"

    def step(self) -> None:
        """One more number, of two of those that are there."""
        by, which = self.by, self.random.integers(0, 9)
        (a, x), (b, y) = (self.pool[i] for i in self.random.integers(0, len(self.pool), 2))
        pairs = list(zip(x, y, strict=True))
        if which in (0, 1):
            self.keep(a - b, [u - v for u, v in pairs])
        elif which == 2:
            self.keep(a + b, [u + v for u, v in pairs])
        elif which in (3, 4):
            self.keep(a * b, [u * v for u, v in pairs])
        elif which == 5:
            self.keep(minimum(a, b), [min(pair) for pair in pairs])
        elif which == 6:
            self.keep(maximum(a, b), [max(pair) for pair in pairs])
        else:
            below = np.where(b > 0, b, 1)
            exact = [v if v > 0 else fmpq(1) for v in y]
            quotient = a / below
            values = [
                v * prod((self.factors[f][i] ** e for f, e in below.factors.items()), start=fmpq(1))
                for i, v in enumerate(exact)
            ]
            self.factors[below.key] = values
            self.keep(quotient, [u / v for u, v in zip(x, exact, strict=True)])
        last, exact = self.pool[-1]
        if self.random.integers(2):
            self.settle(last, exact)
            self.settle(a, x)
        zero = by.zero(last - b) if which == 0 else by.zero(last)
        exact = [u - v for u, v in zip(exact, y, strict=True)] if which == 0 else exact
        for i in np.flatnonzero(~by.undecided).tolist():
            if by.need < by.bits:
                assert bool(zero[i]) == (exact[i] == 0), "a number is called 0"
        below = a < b
        for i in np.flatnonzero(~by.undecided).tolist():
            if by.need < by.bits:
                assert bool(below[i]) == (x[i] < y[i]), "a comparison is wrong"


def modulo_of(x, p: int) -> int:
    """The residue of a rational, from 0 to p - 1."""
    return int(x.p) * pow(int(x.q), -1, p) % p


def fmpq_bits(bits: float) -> int:
    """Bits as a whole number, rounded up from a little more than they are said to be."""
    return int(np.ceil(bits))


def examine(module: ModuleType) -> None:
    """Random expressions in the module's arithmetic, all numbers checked; with large primes and tiny ones."""
    for seed in range(12):
        checked = Checked(module, 1 + seed % 4, seed)
        for _ in range(14):
            checked.step()
    by = module.Arithmetic(1, 1)
    vague = by.number(np.array([0.5]), by.reduced(np.array([[1.0]])), 0.3, Counter())
    assert by.settled(by.constant(0) * (by.constant(1) / vague)) is None
    known, module.primes = module.primes, lambda count: (29, 31, 37, 41, 43, 47)[:count]
    try:
        by = module.Arithmetic(1, 1)
        by.row(np.array([[29], [1]]))
        assert not by.undecided.any()
        by.constant(1) / by.row(np.array([[29], [1]]))[0]
        assert by.undecided.all(), "a multiple of a prime is divided by"
        for seed in range(40):
            checked = Checked(module, 1 + seed % 4, 100 + seed)
            for _ in range(6):
                checked.step()
    finally:
        module.primes = known


def test_every_number_is_what_it_says():
    examine(residues)


FAULTS = {
    "residues reduced by another prime": ("multiples *= self.primes", "multiples *= self.primes[::-1]"),
    "residues cut and not rounded": ("np.rint(multiples", "np.trunc(multiples"),
    "primes whose products are not exact in floats": ("2**27 - 1", "2**31 - 1"),
    "the inverses of a pair exchanged": ("pairs[..., ::-1, :]", "pairs"),
    "residues of a difference added": ("sum_of(a.residues, b.residues)", "np.add(a.residues, b.residues)"),
    "residues of weights without their sum": (
        "self.reduced(parts[:, None] * inverses)",
        "self.reduced(parts[:, None] * whole)",
    ),
    "residues chosen the other way": (
        "np.where(mask[..., None, :], a.residues, b.residues)",
        "np.where(mask[..., None, :], b.residues, a.residues)",
    ),
    "a multiple of a prime is divided by": (" | (b.residues == 0).any(axis=-2)", ""),
    "the smaller exponent of a common denominator": (
        "error, a.factors | b.factors)\n\n",
        "error, a.factors & b.factors)\n\n",
    ),
    "the smaller exponent of a choice": ("b.error), a.factors | b", "b.error), a.factors & b"),
    "a product with the larger exponent": ("a.factors + b.factors", "a.factors | b.factors"),
    "a divisor that is no factor": ("b.factors + Counter((b.key,))", "b.factors"),
    "a divisor as large as its value": ("self.size(b.factors) + log2(b.most)", "log2(b.most)"),
    "a divisor as large as in its first lane": ("np.max(height)", "height.flat[0]"),
    "the divisors of other lanes": (
        "np.maximum(np.abs(whole), 1)",
        "np.maximum(np.abs(whole), 1)[..., ::-1]",
    ),
    "each factor once in a product": ("a.factors.elements()", "a.factors"),
    "floats rounded whatever their errors": (
        "max(log2(a.error + TINY) + 52, log2(a.most + 1))",
        "log2(a.most + 1)",
    ),
    "floats rounded that are too large for it": (", log2(a.most + 1))", ", 0.0)"),
    "floats rounded of factors too large for it": (", log2(a.most + 1))", ", log2(a.most))"),
    "floats rounded of factors not known": (" or not a.factors.keys() <= self.heights.keys()", ""),
    "rounded floats without an error": ("min(a.error, UNIT * a.most)", "0.0"),
    "heights are not asked for": ("self.need = max(self.need,", "self.need = min(self.need,"),
    "a difference without its rounding": ("UNIT * (a.most + b.most)", "0 * (a.most + b.most)"),
    "a difference without one operand's error": ("(a.error + b.error + UNIT * (", "(a.error + UNIT * ("),
    "a product without its rounding": ("+ UNIT * a.most * b.most", ""),
    "a product without one operand's error": ("a.most * b.error + b.most * a.error", "a.most * b.error"),
    "a quotient without its divisor's error": ("(a.error + most * b.error) / least", "a.error / least"),
    "a divisor's least size with lanes that are left": ("np.where(left, 1 + b.error", "np.where(left, 1.0"),
    "the smaller error of a choice": ("max(a.error, b.error), a", "min(a.error, b.error), a"),
    "floats compared without their errors": (
        "doubt = ~(np.abs(a.near) > a.error)",
        "doubt = ~(np.abs(a.near) > 0)",
    ),
    "doubt that the residues do not settle is dropped": (
        "self._leave(doubt & ~self.zero(a))",
        "self.zero(a)",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault):
    old, new = FAULTS[fault]
    source = inspect.getsource(residues)
    assert source.count(old) == 1, fault
    module = ModuleType("edited")
    exec(compile(source.replace(old, new), "<edited>", "exec"), module.__dict__)
    with pytest.raises((AssertionError, ValueError, KeyError)):
        examine(module)


def test_rows_of_lanes_are_those_of_rationals():
    p = np.array([[3, 0, 1, 2], [1, 5, 1, 2], [0, 0, 1, 0]])
    q = np.array([[1, 1, 1, 4], [1, 1, 1, 0], [2, 0, 1, 0]])
    by = residues.Arithmetic(4, 3)
    lanes = [by.row(p), by.row(q)]
    for operation in (
        lambda p, q: excess(p, q),
        lambda p, q: normalise(excess(p, q)),
        lambda p, q: without(q, 1),
        lambda p, q: point(2, p),
        lambda p, q: [total(excess(p, q)), one(p), share(p[0], q[0]), minimum(p[1], q[1])],
    ):
        found = operation(*lanes)
        for lane in range(4):
            exact = operation(
                *(tuple(fmpq(int(x), int(w[:, lane].sum())) for x in w[:, lane]) for w in (p, q))
            )
            for x, number in zip(exact, found, strict=True):
                for prime, residue in zip(map(int, by.primes.flat), number.residues[:, lane], strict=True):
                    assert int(residue) % prime == modulo_of(x, prime)
    assert not by.undecided.any()


def test_what_numpy_would_do_in_floats_alone_is_refused():
    row = residues.Arithmetic(2, 1).row(np.array([[1, 1], [2, 3]]))
    for refused in (lambda: np.exp(row), lambda: np.sort(row), lambda: row * 0.5, lambda: row @ row):
        with pytest.raises(TypeError):
            refused()


IN_STEP = [each for each in VERIFIERS.values() if not each.ordered]
CASES = [
    pytest.param(verifier, draft, id=f"{verifier.name} on {draft.label}")
    for draft in (Chain(2), Tree(LOPSIDED, True), Tree(LOPSIDED), Paths(2, 2))
    for verifier in IN_STEP
    if draft.label in verifier.drafts
]


@pytest.mark.parametrize(("verifier", "draft"), CASES)
def test_every_lane_has_the_verdict_of_rationals(verifier, draft):
    scenarios = [[each] for each in Scenarios(draft, 2) if not each.name.startswith("near tie")]  # 10^30
    for instances in ([*Randoms(draft, 2, 20, seed=7)], *scenarios):
        found = decide(weights(instances), verifier)
        assert not found.undecided.any() or not verifier.lossless
        for lane, instance in enumerate(instances):
            assert found.undecided[lane] or found.lossless[lane] == judge(instance, verifier).lossless


def test_a_grid_s_lanes_are_its_instances():
    grid = Grid(Chain(2), 2, 3)
    lanes, again = grid.lanes(5, 25), weights([grid[i] for i in range(5, 25)])
    for one_, other in ((lanes.target, again.target), (lanes.proposal, again.proposal)):
        rows = dict(other.given())
        assert {prefix for prefix, _ in one_.given()} == rows.keys()
        for prefix, row in one_.given():
            assert (row * rows[prefix].sum(axis=0) == rows[prefix] * row.sum(axis=0)).all()


def test_more_primes_are_taken_where_they_are_needed():
    several = weights(list(Randoms(Paths(2, 2), 2, 30, seed=3)))
    for primes in (0, 1, 3):
        found = decide(several, named("traversal"), primes)
        assert found.primes > 3
        assert (found.lossless | found.undecided).all()


def test_floats_alone_decide_where_they_can():
    found = decide(Grid(Chain(2), 2, 3).lanes(0, 300), named("token"))
    assert found.primes == 0
    assert found.lossless.all()


def test_rules_that_cannot_go_in_step_are_refused():
    with pytest.raises(BadInput, match="orders tokens"):
        decide(weights([*Scenarios(Chain(1), 2)]), named("optimal"))


LABELS = "chain", "tree with replacement", "tree without replacement", "paths"
BROKEN = [
    each
    for each in CATALOGUE
    if each.verifier is not None and each.judge == "enumeration" and each.expected != "lossless"
    if not each.verifier.ordered and any(draft.label in LABELS for draft in each.drafts)
]


@pytest.mark.parametrize("mutant", BROKEN, ids=lambda each: each.name)
def test_broken_verifiers_are_found_in_lanes_too(mutant):
    found = False
    for draft in mutant.drafts:
        if draft.label in LABELS:
            instances = [*Randoms(draft, 3, 12, seed=1), *Scenarios(draft, 3)]
            instances = [each for each in instances if not each.name.startswith("near tie")]
            verdicts = decide(weights(instances), mutant.verifier)
            sure = verdicts.lossless & ~verdicts.undecided
            exact = [judge(instance, mutant.verifier).lossless for instance in instances]
            assert not any(lane and not by_rationals for lane, by_rationals in zip(sure, exact, strict=True))
            found = found or not all(exact)
    assert found


GREEDY = named("greedy-block")


def _all_kept(oracle, draft, target):
    leaf = draft.path[-1]
    return leaf, target[leaf.prefix]


def _second_kept(oracle, draft, target):
    first, second, leaf = draft.path
    if not oracle.accept(share(target[first.prefix][second.token], first.proposal[second.token])):
        return first, normalise(excess(target[first.prefix], first.proposal))
    return leaf, target[leaf.prefix]


def broken_where(where, verify=_all_kept):
    """Greedy block verification, but for some contexts and targets."""

    def judged(oracle, draft, target):
        wrong = where(draft.root.prefix, target)
        return (verify if wrong else GREEDY.verify)(oracle, draft, target)

    return replace(GREEDY, verify=judged)


def carried(carry):
    return replace(GREEDY, carry=lambda *given: carry(*given))


BROKEN_STATES = {
    "the state is not left": carried(lambda target, *_: target),
    "the state of two blocks is not left": carried(
        lambda target, *rest: GREEDY.carry(target, *rest) if isinstance(target, Table) else target.target
    ),
    "no model's target": broken_where(lambda word, target: not isinstance(target, Table)),
    "two tokens": broken_where(lambda word, target: word[-2:] == (1, 0)),
    "two tokens, first": broken_where(lambda word, target: word == (1, 0), _second_kept),
    "three tokens": broken_where(lambda word, target: word == (0, 1, 0)),
}


def missed(rule, decide=decide):
    """The lanes that are called lossless and are not; and whether any other is found lossy."""
    grid = Grid(Chain(2), 2, 4)
    instances = [grid[2920], grid[10481]]
    verdicts = decide(weights(instances), rule)
    sure = verdicts.lossless & ~verdicts.undecided
    lossy = np.array([not judge(instance, rule).lossless for instance in instances])
    assert lossy.any()
    return int((sure & lossy).sum())


@pytest.mark.parametrize("broken", BROKEN_STATES)
def test_broken_states_are_found_in_lanes_too(broken):
    assert not missed(BROKEN_STATES[broken])


@pytest.mark.parametrize(
    ("old", "new", "broken"),
    [
        ("yield from _wrong(first, ", "_wrong(first, ", "the state is not left"),
        ("sorted(first.states.items(),", "sorted({}.items(),", "no model's target"),
        ("len(word) - memory, 0)", "len(word) - 1, 0)", "two tokens"),
        ("key=lambda each: len(", "key=lambda each: -len(", "two tokens, first"),
        (" and of_the_project(verifier)", "", "three tokens"),
    ],
)
def test_faults_in_the_second_iteration_are_found(old, new, broken):
    source = inspect.getsource(lanes_module)
    assert source.count(old) == 1
    edited = ModuleType("draftproof.edited_lanes")
    sys.modules["draftproof.edited_lanes"] = edited  # which dataclasses look up
    try:
        exec(compile(source.replace(old, new), "<edited>", "exec"), edited.__dict__)
        if "project" not in old:
            edited.of_the_project = lambda verifier: True
        assert missed(BROKEN_STATES[broken], edited.decide)
    finally:
        del sys.modules["draftproof.edited_lanes"]
