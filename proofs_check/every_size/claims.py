"""Induction hypotheses: what a run does from the head of a loop, or in a call, on average over drafts and
coins.

The claim of a place in the code, about a node `here`, a row r and a rate a, all taken from the variables
there:

    verification stops at or below `here` with probability a; then the next token is y with probability
    r(y), and the target's law follows.

A verifier that leaves a modified target behind has a ratio R instead, P / Q of two variables, and p is the
target's row:

    it stops at or below `here` with probability min(1, R); by this and by the (R - 1)+ that enters `here` by
    a residual and goes on with the modified target, the next token is y with mass R p(y), and the target's
    law follows.

A claim is proved by running the code once from its place, with every variable that the loop changes
unknown, and taking the claims for granted at the places where the run arrives next: with one child less,
one level deeper, or in a loop further inside. Which variables are r and a, and what else is known of the
variables at that place, is found by trying.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from types import FunctionType
from typing import Any

from draftproof.proofs_check.cells.symbol import POSITIVE, ZERO, Symbol
from draftproof.proofs_check.every_size.contracts import contract_of
from draftproof.proofs_check.every_size.flow import Function, Loop, NotFollowed, Step
from draftproof.proofs_check.every_size.run import Env, Refuted, Run, iterator
from draftproof.proofs_check.every_size.space import POSITIVE_NUMBER, UNIT
from draftproof.proofs_check.every_size.values import (
    UNKNOWN,
    Backwards,
    Below,
    Chain,
    Children,
    Count,
    Edges,
    LeafOf,
    Masses,
    Named,
    Node,
    Row,
    Segments,
    Stack,
    TargetRow,
    Token,
    Without,
    Zipped,
)
from draftproof.theory import rows

ROW_FACTS = (
    "target's row",
    "law of the next child",
    "drafter's row",
    "law",
    "law, or nothing at rate 0",
    "unknown",
)
SMALL, BIG = ("above 0, at most 1", "unit", "at least 1"), ("above 0", "at least 0")
"""What can be known of a variable at a claim's place, from the strongest fact to the weakest. Of a number
that is no item of a list also: that it is the product of two others, or nothing.
"""


NEXT_CHILD = "next child"
"""The name under which the environment keeps the law of the next child, drawn without replacement."""

FIXED = (Named, LeafOf, Chain, Edges, Children, int, type(None), FunctionType)
"""What a variable can hold that means the same in every run."""


class Weaken(Exception):
    """A fact about a variable does not hold wherever the place is reached."""


@dataclass(eq=False)
class Claim:
    """The claim of a place: a loop's head or the start of a function.

    `env` holds the variables as they were when the place was first reached, `facts` what is known of those
    that change; `row` names the variable of r, None for the target's row; `rate` that of a, None for 1.
    Of a verifier that leaves a `modified` target behind, `rate` names P, and `over` Q, None for 1. `later` is
    where a run goes on that did not stop.
    """

    place: Loop | Function
    function: Function
    env: Env
    changing: frozenset[str]
    facts: dict[str, int] = field(default_factory=dict)
    row: str | None = None
    rate: str | None = None
    over: str | None = None
    modified: bool = False
    later: "Later | None" = None

    def __str__(self) -> str:
        place = f"{self.function}, {self.place}" if isinstance(self.place, Loop) else str(self.function)
        rate, row = self.rate or 1, self.row or "the target's row"
        if self.modified:
            ratio = f"min(1, {rate} / {self.over})" if self.over else f"min(1, {rate})"
            return f"{place}: stops with probability {ratio}; with what enters by a residual, follows {row}"
        return f"{place}: stops with probability {rate}, then follows {row}"

    def kept(self) -> str:
        """What the claim says of a drafted token, in words."""
        place = f"{self.function}, {self.place}" if isinstance(self.place, Loop) else str(self.function)
        if self.modified:
            rate = f"{self.rate} / {self.over}" if self.over else f"{self.rate}"
            return f"{place}: y is kept with mass min({rate} p(y), q(y)); {rate} grows by p / q"
        if self.rate is None:
            return f"{place}: y is kept with mass min(p(y), q(y)) once its prefix is kept"
        a = self.rate
        return f"{place}: y is kept with mass min({a} p(y), q(y)); {a} is the probability of its prefix"

    def options(self) -> list[tuple[str | None, str | None, str | None]]:
        """(row, rate, over) that can be tried, the likeliest first."""
        numbers, rows_ = [], []
        for name, value in self.env.items():
            if _is_number(value):
                numbers.append(name)
            if isinstance(value, Row | TargetRow) and name != NEXT_CHILD:
                rows_.append(name)
        if self.modified:
            return [(None, P, Q) for P in numbers for Q in (*numbers, None) if P != Q]
        return [(row, rate, None) for row in (*rows_, None) for rate in (*numbers, None)]

    def facts_of(self, name: str) -> tuple[str, ...]:
        """What can be known of the variable, from the strongest fact to the weakest."""
        value = self.env[name]
        if isinstance(value, Row | TargetRow):
            return ROW_FACTS
        if isinstance(value, list | Stack):
            return (*SMALL, *BIG)
        others = [other for other in self.env if other != name and _is_number(self.env[other])]
        products = [f"{a} * {b}" for a, b in combinations(others, 2)]
        return (*SMALL, *products, *BIG, "unknown")

    def fact(self, name: str) -> str:
        """What is known of the variable."""
        return self.facts_of(name)[self.facts.setdefault(name, 0)]


@dataclass(frozen=True, eq=False)
class Later:
    """The loop back along the chain that a run goes on at: what it runs over, and what is known there."""

    loop: Loop
    columns: tuple
    function: Function | None
    env: Env


def _is_number(value: Any) -> bool:
    # A number, or a list along the chain that has one for the node of the claim.
    return isinstance(value, Symbol) or (isinstance(value, list | Stack) and length(value) == 1)


def length(value: "list | Stack") -> int:
    """How many items the list has besides those of the nodes above."""
    return len(value.top if isinstance(value, Stack) else value)


PASS, AGAIN = "pass", object()


class Finished(Exception):
    """No mass is left that could go on: every run has stopped."""


class Branches:
    """The oracle that takes both sides of every coin in turn, also those of probability zero."""

    def __init__(self, start: Any):
        self.start = start
        self.trail: list[list[tuple[bool, Any]]] = []
        self.at = 0

    @property
    def weight(self) -> Any:
        """The probability of the sides taken so far."""
        return self.trail[-1][-1][1] if self.trail else self.start

    def accept(self, probability: Any) -> bool:
        if self.at == len(self.trail):
            weight = self.weight
            self.trail.append([(False, weight * (1 - probability)), (True, weight * probability)])
        self.at += 1
        return self.trail[self.at - 1][-1][0]

    def choose(self, row: Any) -> int:
        raise NotFollowed("a token is chosen in a loop whose passes are alike")

    def next(self) -> bool:
        """Back to the last coin with a side left; False when all were taken."""
        self.at = 0
        while self.trail:
            self.trail[-1].pop()
            if self.trail[-1]:
                return True
            self.trail.pop()
        return False


class Hypotheses:
    """All claims of one proof, as a run sees them that starts at the claim `current`.

    `carry` makes the target that the verifier leaves behind, None if that is the old one. With `accepted` the
    claims are about tokens that are kept: y, drafted below `here`, with mass min(a p(y), q(y)), or
    min(R p(y), q(y)).
    """

    def __init__(
        self, chosen: dict[Any, int], facts: dict[Any, dict[str, int]], carry: Callable | None = None
    ) -> None:
        self.carry, self.accepted = carry, False
        self.claims: dict[Loop | Function, Claim] = {}
        self.chosen, self.facts = chosen, facts
        self.asked_draft = False
        self.passes = False  # whether a loop of passes that are alike was met
        self.contracts: list[str] = []  # what was assumed of functions that were not run
        self.results: dict[str, int] = {}
        self.order: list[Loop | Function] = []
        self.current: Claim | None = None

    @property
    def at_root(self) -> bool:
        return self.current is not None and self.current.place is self.order[0]

    def told(self) -> list[str]:
        """The claims in words, but for that of the verifier itself."""
        return [str(self.claims[place]) for place in self.order[1:]]

    # Starting a run.

    def begin(self, run: Run, claim: Claim) -> Symbol:
        """One run from the claim's place."""
        if self.carry is not None and contract_of(run, self.carry) is None:
            raise NotFollowed("the target that the verifier leaves behind is not known")
        run.function, run.start = claim.function, claim.place
        env = {name: self._start_value(run, claim, name) for name in claim.env}
        step = claim.place.first if isinstance(claim.place, Function) else run.enter(claim.place, env)
        try:
            last = run.go(step, env)
        except Finished:
            return run.gained
        return run.gained + run.reach * last

    def wanted(self, run: Run, claim: Claim) -> Symbol:
        """The mass that the claim says y gets."""
        env = {name: self._start_value(run, claim, name) for name in claim.env}
        if not self.accepted:
            return self._mass(run, claim, env)
        if not run.inner:
            return run.space.number(0)
        kept = run.operation(rows.scale, [self._rate(run, claim, env), self._row(run, claim, env)])
        return run.operation(rows.meet, [kept, run.proposal_row])[0]

    def _mass(self, run: Run, claim: Claim, env: Env) -> Symbol:
        # What y gets of what enters `here` by the draft.
        rate, row = self._rate(run, claim, env), self._row(run, claim, env)
        if not claim.modified:
            return rate * row[0]
        entered = run.operation(rows.positive, [rate - 1])
        if not run.inner:  # nothing below is modified
            return rate * row[0] - entered * row[0]
        want = run.operation(rows.excess, [run.operation(rows.scale, [rate, row]), run.proposal_row])
        return rate * row[0] - entered * run.operation(rows.normalise, [want])[0] * run.modified

    def _start_value(self, run: Run, claim: Claim, name: str) -> Any:
        old = claim.env[name]
        if isinstance(old, Node):
            return run.here
        if isinstance(old, FIXED):
            return old if name not in claim.changing or isinstance(old, Edges | Children) else UNKNOWN
        if isinstance(old, list | Stack):
            if name not in claim.changing:
                return UNKNOWN
            if name == claim.rate and self._nothing(run, claim):
                return Stack([run.space.number(0)] * length(old), name)
            return Stack(
                [self._number(run, claim, f"{name}[{i}]", claim.fact(name)) for i in range(length(old))], name
            )
        if name == NEXT_CHILD:
            return run.unknown_row(NEXT_CHILD)
        if isinstance(old, Symbol):
            fact = claim.fact(name)
            if fact == "unknown":
                return UNKNOWN
            if name == claim.rate and self._nothing(run, claim):
                return run.space.number(0)
            return self._number(run, claim, name, fact)
        if isinstance(old, Row | TargetRow):
            fact = claim.fact(name)
            if fact == "target's row":
                return run.target_row
            if fact == "law of the next child":
                return run.unknown_row(NEXT_CHILD) if NEXT_CHILD in claim.env else run.proposal_row
            if fact == "drafter's row":
                return run.proposal_row
            if fact == "unknown":
                return UNKNOWN
            if fact != "law" and self._nothing(run, claim):
                return Row([run.space.number(0)] * run.space.tokens)
            return run.unknown_row(f"row {name}")
        return UNKNOWN

    def _nothing(self, run: Run, claim: Claim) -> bool:
        # Whether the claim's rate is 0 and its row empty, where the facts allow that. A modified target has
        # empty rows after what it does not draw.
        if claim.rate is None:
            return False
        if not claim.modified and (claim.row is None or claim.fact(claim.row) != "law, or nothing at rate 0"):
            return False
        return run.decide("nothing left", (False, True))

    def _number(self, run: Run, claim: Claim, name: str, fact: str) -> Symbol:
        # The unknown number of which the fact is known.
        if " * " in fact:
            value: Any = self._factor(run, claim, fact, 0) * self._factor(run, claim, fact, 1)
            run.bounds[id(value)] = (value, False)  # factors are at least 0
            return value
        kind = UNIT if fact in ("above 0, at most 1", "unit") else POSITIVE_NUMBER
        value = run.number_or_row(f"number {name}", kind)
        if fact == "at least 1":
            value = 1 + value
            run.bounds[id(value)] = (value, False)
        elif fact.startswith("above 0"):
            run.space.assume(value, POSITIVE)
        return value

    def _factor(self, run: Run, claim: Claim, fact: str, index: int) -> Symbol:
        # A factor of a product, which may not itself be known as a product.
        name = fact.split(" * ")[index]
        if not isinstance(claim.env[name], list | Stack) and " * " in claim.fact(name):
            raise NotFollowed(f"{name} is known as a product")
        return self._item(name, self._start_value(run, claim, name))

    def _item(self, name: str, value: Any) -> Any:
        # The number that is meant by a name: itself, or the last of a list along the chain.
        if isinstance(value, list | Stack):
            value = (value.top if isinstance(value, Stack) else value)[-1]
        if not isinstance(value, Symbol | int):
            raise NotFollowed(f"{name} is not a number")
        return value

    def _rate(self, run: Run, claim: Claim, env: Env) -> Any:
        # The claim's rate, or the ratio R.
        if claim.rate is None:
            return run.space.number(1)
        value = run.space.number(1) * self._item(claim.rate, env[claim.rate])
        return value / self._item(claim.over, env[claim.over]) if claim.over is not None else value

    def _row(self, run: Run, claim: Claim, env: Env) -> Row:
        row = run.target_row if claim.row is None else run.worked_out(env[claim.row])
        if not isinstance(row, Row):
            raise NotFollowed(f"{claim.row} is not a row that is known")
        return row

    # Arriving at places.

    def arrive(self, run: Run, loop: Loop, env: Env) -> Symbol | Step:
        statement = loop.statement
        items = env.get(iterator(statement)) if isinstance(statement, ast.For) else None
        if run.start == (PASS, loop):
            run.env = env
            return AGAIN  # type: ignore[return-value]
        if isinstance(items, Children) and run.start is not loop and not run.examined and not run.inner:
            return loop.exit  # a leaf: nothing below it, and no row that its children would have
        match items:
            case Zipped(columns=(Children(), Segments(items=segments))):
                return self._alike(run, loop, env, segments)
            case Masses(form="pairs" | "judged") as masses:
                return self._exclusive(run, loop, env, masses)
            case Zipped(columns=(Children(), Masses(form="list") as masses)):
                return self._exclusive(run, loop, env, masses)
            case Zipped() | Backwards():
                return self._arrive_later(run, loop, env, items)
        if isinstance(items, Children) and run.mode == "chain":  # one child at most
            if run.start is loop:
                raise NotFollowed("a chain's child is a loop of its own")
            if run.examined or not run.inner:
                return loop.exit
            run.bind(loop.target, run.draw_child(run.proposal_row), env)
            return loop.body
        fresh = isinstance(items, Children) and run.mode == "with replacement" and not run.examined
        state = Symbol | Row | TargetRow | list | Stack
        if fresh and not any(isinstance(env.get(name), state) for name in loop.assigned):
            return self._alike(run, loop, env, ((None, Count()),))
        if isinstance(items, Children):
            node: Any = run.here
            if run.examined and run.start is not loop:
                raise NotFollowed("the children of a node are looked at twice")
            law = run.next_law(env)
            if run.mode == "without replacement":
                child = run.child
                if run.start is loop and child is not None and child.token is not None:
                    law = None if law is None else Without(law, child.token)
                env[NEXT_CHILD] = law
        elif isinstance(items, Edges):
            node = run.child if run.start is loop else run.here
            if node is not run.here:
                run.use(node)
        elif items is None:
            tested = {
                each.id for each in ast.walk(loop.condition) if isinstance(each, ast.Name)
            } & loop.assigned
            nodes = [env[name] for name in tested if isinstance(env.get(name), Node)]
            if len(nodes) != 1:
                raise NotFollowed(f"{loop}: the node that it is about is not known")
            node = nodes[0]
            if run.start is loop or run.examined or node is not run.here:
                if node is run.here:
                    raise Refuted(f"line {statement.lineno}: the loop goes on at the same node")
                run.use(node)
        else:
            raise NotFollowed(f"line {statement.lineno}: a loop over {type(items).__name__}")
        claim = self.assume(loop, run.function, env, loop.assigned, node)
        env, own = self._split(run, claim, env, node)
        return self._apply(run, claim, env, node, own, loop)

    def assume(
        self, place: Loop | Function, function: Any, env: Env, changing: frozenset[str], node: Any = None
    ) -> Claim:
        if place not in self.claims:
            extra = {name for name in env if name.startswith("for ")}
            known = {
                name: value for name, value in env.items() if not isinstance(value, Node) or value is node
            }
            claim = Claim(place, function, known, changing | extra)
            self.order.append(place)
            self.claims[place] = claim
            claim.modified = self.carry is not None and len(self.order) > 1
            options = claim.options()
            if not options:
                raise NotFollowed(f"{place}: no rate that a claim could be about")
            claim.row, claim.rate, claim.over = options[self.chosen.get(place, 0)]
            claim.facts = self.facts.setdefault(place, {})
        return self.claims[place]

    def _split(self, run: Run, claim: Claim, env: Env, node: Any) -> tuple[Env, Env]:
        # Lists along the chain: the items that belong to `here`, and the environment without them.
        out, own = dict(env), {}
        for name in claim.changing & claim.env.keys():
            old = claim.env[name]
            if not isinstance(old, list | Stack):
                continue
            now = env[name]
            top = now.top if isinstance(now, Stack) else now
            extra = len(top) - length(old)
            if extra != (node is not run.here) or (
                isinstance(old, Stack) != isinstance(now, Stack) and extra == 0
            ):
                raise NotFollowed(f"{name} does not grow by one item a node")
            own[name] = top[0] if extra else None
            out[name] = Stack(list(top[extra:]), name)
        return out, own

    def _apply(self, run: Run, claim: Claim, env: Env, node: Any, own: Env, loop: Loop) -> Symbol | Step:
        self._check_facts(run, claim, env, node)
        if node is run.here:
            if self.accepted and not self.at_root:
                raise NotFollowed("a claim about the same node")
            return self._mass(run, claim, env)
        row = None if claim.row is None else env[claim.row]
        if row is not None and not (isinstance(row, TargetRow) and row.node is node):
            raise NotFollowed(f"{claim.row} at a child is not the target's row there")
        if claim.rate is None:
            return run.arrived(node)
        rate = self._rate(run, claim, env)
        if run.accept(run.operation(rows.minimum, [rate, run.space.number(1)]) if claim.modified else rate):
            return self._followed(run, claim, node, rate)
        if claim.later is None:
            raise NotFollowed("where a run goes on that did not stop is not known")
        return self._go_on(run, claim, own, claim.later)

    def _followed(self, run: Run, claim: Claim, node: Any, rate: Symbol) -> Symbol:
        # Mass of y once the run has stopped at or below the child, which it does with min(1, R).
        token = run.arrived(node)
        if not claim.modified:
            return token
        if self.accepted:
            assert claim is self.current
            before = self._rate(run, claim, {name: self._start_value(run, claim, name) for name in claim.env})
            p, q = (run.item(row, node.token) for row in (run.target_row, run.proposal_row))
            if rate * q != before * p:
                raise Refuted("the ratio does not grow by p / q")
            return token
        return token * (rate - (rate - 1) * run.modified) if rate > 1 else token

    def _check_facts(self, run: Run, claim: Claim, env: Env, node: Any) -> None:
        for name, old in claim.env.items():
            value = env.get(name, UNKNOWN)
            if isinstance(old, Node) and value is not node:
                raise NotFollowed(f"{name} is not the node of the loop")
            fixed = isinstance(old, FIXED) and (
                name not in claim.changing or isinstance(old, Edges | Children)
            )
            if fixed and not _same(value, old):
                raise NotFollowed(f"{name} is not the same wherever the place is reached")
            values: list[Any] = []
            if isinstance(old, Stack | list) and name in claim.changing:
                values = value.top
            elif isinstance(old, Symbol | Row | TargetRow) and name != NEXT_CHILD:
                values = [value]
            for each in values:
                fact = claim.fact(name)
                if not self._holds(run, claim, fact, each, env, node):
                    run.must_occur()
                    if claim.facts[name] + 1 == len(claim.facts_of(name)):
                        raise NotFollowed(f"{name} holds what is not known to be a number of at least 0")
                    claim.facts[name] += 1
                    raise Weaken(f"{name}: {fact}")

    def _holds(self, run: Run, claim: Claim, fact: str, value: Any, env: Env, node: Any) -> bool:
        if fact == "unknown":
            return True
        if fact in (*SMALL, *BIG) or " * " in fact:
            if not isinstance(value, Symbol | int):
                return False
            known, unit = run.bounds.get(id(value), (None, False))
            match fact:
                case "unit":
                    return unit or ((known is not None or not value < 0) and not value > 1)
                case "at least 0":
                    return known is not None or not value < 0
                case "above 0, at most 1":
                    return value > 0 and (unit or not value > 1)
                case "above 0":
                    return value > 0
                case "at least 1":
                    return not value < 1
            a, b = (self._item(name, env.get(name)) for name in fact.split(" * "))
            return value == a * b
        if fact == "target's row":
            if node is run.here:
                return isinstance(value, Row) and _equal(value, run.target_row)
            return isinstance(value, TargetRow) and value.node is node
        if fact == "law of the next child":
            law = run.next_law(env)
            return law is not None and _equal(value, law)
        if fact == "drafter's row":
            return node is run.here and isinstance(value, Row) and _equal(value, run.proposal_row)
        value = run.worked_out(value)
        if not isinstance(value, Row):
            return False
        if not value.positive and any(entry < 0 for entry in value):
            return False
        mass = rows.total(value)
        if mass == 1:
            return True
        return fact != "law" and mass == 0 and claim.rate is not None and self._rate(run, claim, env) == 0

    # Loops whose passes do not depend on each other.

    def _passes(self, run: Run, loop: Loop, env: Env, child: Node, item: Any) -> list[tuple[Any, Any, Run]]:
        # (weight, mass of y or AGAIN, the run) of every way that one pass of the loop's body can go.
        found = []
        oracle = Branches(run.space.number(1))
        while True:
            inner = Run(run.space, oracle, run.scenario, run.mode, self)
            inner.here, inner.function, inner.examined = run.here, run.function, True
            inner.series, inner.bounds, inner.start = run.series, run.bounds, (PASS, loop)
            inner.child = child = Node(child.token)
            inside = dict(env)
            inner.bind(loop.target, child if item is None else (child, item), inside)
            result = inner.go(loop.body, inside)
            if result is AGAIN and any(
                isinstance(value, Node) and inner.env.get(name) is not value for name, value in env.items()
            ):
                raise NotFollowed(f"{loop}: a pass that goes on changes the node")
            found.append((oracle.weight, result, inner))
            if not oracle.next():
                return found

    def _forget(self, loop: Loop, env: Env) -> None:
        # What the loop assigns, but for nodes, which a pass that goes on must leave as they were.
        for name in loop.assigned:
            if not isinstance(env.get(name), Node):
                env[name] = UNKNOWN

    def _alike(self, run: Run, loop: Loop, env: Env, segments: tuple) -> Symbol | Step:
        """A loop over i.i.d. children that changes nothing: with K children alike, of which each stops the
        run with probability b, the K-th is reached with (1 - b)^(K-1).
        """
        if run.mode != "with replacement" or run.examined:
            raise NotFollowed("children that are alike are drawn with replacement")
        if not run.inner:
            raise NotFollowed("children that are alike are counted where there are some")
        counts = [count for _, count in segments if isinstance(count, Count)]
        items = sum(count for _, count in segments if isinstance(count, int))
        if len(counts) != 1 or counts[0].offset + items != 0:
            raise NotFollowed("a list that does not have one item for each child")
        run.examined = True
        self._forget(loop, env)
        law, space = run.proposal_row, run.space
        self.passes = True
        for item, count in segments:
            if not run.reach > 0:
                raise Finished
            before, space.forms = space.forms, set()
            stops, gains = space.number(0), space.number(0)
            for index in range(space.tokens):
                whole = index > (space.individual or 0)
                stopped, gained = space.number(0), space.number(0)
                for weight, result, _ in self._passes(run, loop, env, Node(Token(index, whole)), item):
                    if result is not AGAIN:
                        stopped, gained = stopped + weight, gained + weight * result
                stopped, gained = law[index] * stopped, law[index] * gained
                if index == space.individual and not space.linear(stopped):
                    raise NotFollowed("a child's stop is not linear in its token's entries")
                stops, gains = stops + stopped, gains + gained
            drawn = set() if space.individual is None else space.own_factors(law[space.individual].top)
            run.same_signs(space.forms - drawn)
            space.forms = before
            if isinstance(count, Count):
                early, late = run.powers(stops)
                times = early if count.offset else early + late
            elif count == 1:
                times = space.number(1)
            else:
                raise NotFollowed(f"an item that stands {count} times in a list")
            run.gained = run.gained + run.reach * gains * times
            run.reach = run.reach * (1 - stops * times)
        if space.individual is not None:
            raise Finished  # this run only had to see that what a token adds is linear in its entries
        if not run.reach > 0:
            raise Finished
        return loop.exit

    def _exclusive(self, run: Run, loop: Loop, env: Env, masses: Masses) -> Symbol | Step:
        """A loop that enters child j with w_j / left_j, left_j = 1 - w_1 - .. - w_(j-1): its child j is
        reached with left_j and stops the run with w_j, whatever was drawn.
        """
        if run.examined:
            raise NotFollowed("the children of a node are looked at twice")
        run.examined = True
        numbers = [name for name in loop.assigned if isinstance(env.get(name), Symbol)]
        if masses.form != "judged" and (len(numbers) != 1 or env[numbers[0]] != 1):
            raise NotFollowed("what is left of 1 is not known")
        left, w = run.fresh(UNIT, "left"), run.fresh(UNIT, "mass")
        if masses.form == "judged":
            left, numbers = run.space.number(1), []
        run.space.assume(left, POSITIVE)
        run.space.assume(left - w, ZERO | POSITIVE)
        start = dict(env)
        self._forget(loop, start)
        start |= dict.fromkeys(numbers, left)
        for index in (0, 1):
            stopped = run.space.number(0)
            for weight, result, inner in self._passes(run, loop, start, Node(Token(index, index > 0)), w):
                if result is not AGAIN:
                    stopped = stopped + weight
                    if result != int(index == 0):
                        raise NotFollowed("a stop elsewhere than at the child")
                elif any(inner.env[name] != left - w for name in numbers):
                    raise NotFollowed("what is left is not what it was without the child's mass")
            if not stopped * left == w:
                raise NotFollowed("a child is not entered with its mass over what is left")
        self._forget(loop, env)
        accepted = rows.total(masses.plan.taken)
        run.gained = run.gained + run.reach * masses.plan.taken[0]
        run.reach = run.reach * (1 - accepted)
        if not run.reach > 0:
            raise Finished
        return loop.exit

    # Loops that go back along the chain.

    def _arrive_later(self, run: Run, loop: Loop, env: Env, items: Any) -> Symbol:
        if run.start is not loop:
            claim = self.current
            assert claim is not None
            if run.scenario.get("has children") is not False or not isinstance(claim.place, Loop):
                raise NotFollowed("a list along the chain is read elsewhere than at its end")
            shape = _columns(items)
            known = {name: value for name, value in env.items() if isinstance(value, FIXED)}
            if claim.later is None:
                claim.later = Later(loop, shape, run.function, known)
            later = claim.later
            alike = later.env.keys() == known.keys() and all(
                _same(value, later.env[name]) for name, value in known.items()
            )
            if (later.loop, later.columns, later.function) != (loop, shape, run.function) or not alike:
                raise NotFollowed("runs that did not stop go on at different places")
        return run.space.number(0)

    def _go_on(self, run: Run, claim: Claim, own: Env, later: Later) -> Symbol:
        # One pass of the later loop, for `here`, after nothing below it has stopped.
        loop, columns = later.loop, later.columns
        statement = loop.statement
        assert isinstance(statement, ast.For)
        assert isinstance(claim.place, Loop)
        env = {name: value for name, value in later.env.items() if name not in loop.assigned}
        parts = []
        for column in columns[1]:
            if column == "":
                parts.append(run.here)
            elif column in own:
                parts.append(own[column])
            else:
                raise NotFollowed(f"{column} is not a list along the chain")
        run.bind(statement.target, tuple(parts) if columns[0] else parts[0], env)
        run.start, run.function = loop, later.function
        env[iterator(statement)] = Zipped(())
        return run.go(loop.body, env)

    # Calls.

    def call(self, run: Run, function: Function, arguments: list[Any]) -> Any:
        if len(arguments) != len(function.parameters):
            raise NotFollowed(f"{function.name} with {len(arguments)} arguments")
        env = dict(zip(function.parameters, arguments, strict=True))
        nodes = [value for value in arguments if isinstance(value, Node)]
        if not nodes:
            return run.inlined(function, env)
        if len(nodes) != 1:
            raise NotFollowed(f"{function.name} is not about one node")
        node = nodes[0]
        if node is run.here and (not self.at_root or run.examined or function is self.order[0]):
            raise NotFollowed(f"{function.name} is called again on the same node")
        run.use(node)
        generic = {name: (run.here if value is node else value) for name, value in env.items()}
        changing = frozenset(
            name for name, value in env.items() if not isinstance(value, Named | FunctionType)
        )
        claim = self.assume(function, function, generic, changing, run.here)
        self._check_facts(run, claim, env, node)
        rate = self._rate(run, claim, env)
        if claim.row is not None:
            raise NotFollowed("a function that is given its row")
        return Below(node) if run.accept(rate) else None


def _columns(items: Any) -> tuple[bool, tuple[str, ...]]:
    # (whether lists are side by side, for each the name of its list, "" for the chain's inner nodes).
    columns = items.columns if isinstance(items, Zipped) else (items,)
    names = []
    for column in columns:
        match column:
            case Backwards(items=Chain(inner=True)):
                names.append("")
            case Backwards(items=Stack(top=[], name=name)):
                names.append(name)
            case _:
                raise NotFollowed("a loop back along the chain over something else than its inner nodes")
    return isinstance(items, Zipped), tuple(names)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, Without) and isinstance(b, Without):
        return a.token is b.token and _equal(a.row, b.row)
    if isinstance(a, Row) and isinstance(b, Row):
        return a is b or all(bool(x == y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Symbol | int) and isinstance(b, Symbol | int):
        return bool(a == b)
    return False


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Named) and isinstance(b, Named):
        return a.name == b.name
    if isinstance(a, Chain) and isinstance(b, Chain):
        return a.inner == b.inner
    return type(a) is type(b) and (not isinstance(a, int | FunctionType) or a == b)
