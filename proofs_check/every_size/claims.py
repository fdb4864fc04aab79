"""Induction hypotheses: what executing the verifier from a loop head, or a call, does in expectation.

The expectation is over drafts and coins. The claim of a place in the code is about a node `here`, a row r and
a rate a, all taken from the variables there:

    verification stops at or below `here` with probability a; then the next token is y with probability
    r(y), and the target's law follows.

A verifier that leaves another target behind has a ratio R too, both of two variables (`left`), and p is the
target's row:

    it stops at or below `here` with probability a; by this and by the R - a that enters `here` by a residual
    and goes on with the target left behind, the next token is y with mass R p(y), and the target's law
    follows.

A claim is proved by running the code once from its place, with every variable that the loop changes
unknown, and taking the claims for granted at the places where the run arrives next: with one child less,
one level deeper, or in a loop further inside. Which variables are r and a, and what else is known of the
variables at that place, is found by trying.
"""

from dataclasses import dataclass
from itertools import product
from types import FunctionType
from typing import Any

from draftproof.proofs_check.cells.symbol import POSITIVE, ZERO, Symbol
from draftproof.proofs_check.every_size.contracts import Modified
from draftproof.proofs_check.every_size.machine.flow import Env, Function, Loop, NotFollowed
from draftproof.proofs_check.every_size.machine.run import Run
from draftproof.proofs_check.every_size.machine.space import POSITIVE_NUMBER, UNIT
from draftproof.proofs_check.every_size.machine.values import (
    UNKNOWN,
    Chain,
    Children,
    Edges,
    LeafOf,
    Named,
    Node,
    Row,
    Stack,
    TargetRow,
    Without,
)
from draftproof.theory import rows

ROW_FACTS = ("target's row", "law of the next child", "drafter's row", "law", "law, or nothing at rate 0")
NUMBER_FACTS, DIVISOR = ("unit", "at least 0"), "above 0, at most 1"
"""What can be known of a variable at a claim's place, from the strongest fact to the weakest. Of a number
beside a list along the path also that it is at least 1, or the product of the list's last item and another
number.
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
    Of a verifier that leaves a target behind, `left` says what `rate` and `over` are, None for 1. `later` is
    where a run goes on that did not stop.
    """

    place: Loop | Function
    function: Function
    env: Env
    changing: frozenset[str]
    facts: dict[str, int]
    row: str | None = None
    rate: str | None = None
    over: str | None = None
    left: Modified | None = None
    later: "Later | None" = None

    @property
    def where(self) -> str:
        """The place in words."""
        return f"{self.function}, {self.place}" if isinstance(self.place, Loop) else str(self.function)

    def __str__(self) -> str:
        rate, row = self.rate or 1, self.row or "the target's row"
        if self.left and self.rate:
            stops, _ = self.left.said(self.rate, self.over)
            return (
                f"{self.where}: stops with probability {stops}; with what enters by a residual, follows {row}"
            )
        return f"{self.where}: stops with probability {rate}, then follows {row}"

    def kept(self) -> str:
        """What the claim says of a drafted token, in words."""
        a = self.rate
        if a is None:
            mass = "mass min(p(y), q(y)) once its prefix is kept"
        elif self.left:
            mass = self.left.said(a, self.over)[1]
        else:
            mass = f"mass min({a} p(y), q(y)); {a} is the probability of its prefix"
        return f"{self.where}: y is kept with {mass}"

    def options(self) -> list[tuple[str | None, str | None, str | None]]:
        """(row, rate, over) that can be tried, the likeliest first: numbers, or lists that have one."""
        rows_ = [name for name, value in self.env.items() if _is_row(value) and name != NEXT_CHILD]
        numbers = [
            name
            for name, value in self.env.items()
            if isinstance(value, Symbol) or (isinstance(value, list) and len(value) == 1)
        ]
        if self.left:
            return [(None, P, Q) for P in numbers for Q in (*numbers, None) if P != Q]
        return [(row, rate, None) for row in (*rows_, None) for rate in (*numbers, None)]

    def facts_of(self, name: str) -> tuple[str, ...]:
        """What can be known of the variable, from the strongest fact to the weakest."""
        value = self.env[name]
        if _is_row(value):
            return ROW_FACTS
        if name == self.over:
            return (DIVISOR,)
        if isinstance(value, list):
            return NUMBER_FACTS
        lists = [other for other, held in self.env.items() if isinstance(held, list) and held]
        numbers = [other for other, held in self.env.items() if isinstance(held, Symbol) and other != name]
        tied = ["at least 1", *(f"{a} * {b}" for a, b in product(lists, numbers))] if lists else []
        return ("unit", *tied, "at least 0")

    def fact(self, name: str) -> str:
        """What is known of the variable."""
        return self.facts_of(name)[self.facts.setdefault(name, 0)]

    # What the claim says of a run, whose variables at the place are `env`.

    def mass(self, run: Run, env: Env) -> Symbol:
        """What y gets of what enters `here` by the draft."""
        (ratio, rate), row = self.rates(run, env), self.row_in(run, env)
        if not self.left:
            return rate * row[0]
        found = self.left.row(run, *self.named(env))[0]  # below the draft nothing is modified
        return ratio * row[0] - (ratio - rate) * found * (run.modified if run.inner else 1)

    def start(self, run: Run, name: str) -> Any:
        """What a variable holds where a run starts at the place: an unknown of which the facts are known."""
        old = self.env[name]
        if isinstance(old, Node):
            return run.here
        if self._is_fixed(name):
            return old
        if isinstance(old, list) and name in self.changing:
            return Stack([self._number(run, name, f"{name}[{i}]") for i in range(len(old))], name)
        if name == NEXT_CHILD:
            return run.unknown_row(NEXT_CHILD)
        if isinstance(old, Symbol):
            return self._number(run, name, name)
        return self._row(run, name) if _is_row(old) else UNKNOWN

    def _is_fixed(self, name: str) -> bool:
        # Whether the variable means the same wherever the place is reached.
        old = self.env[name]
        return isinstance(old, FIXED) and (name not in self.changing or isinstance(old, Edges | Children))

    def _nothing(self, run: Run) -> bool:
        # Whether the claim's rate is 0 and its row empty, where the facts allow that. A modified target has
        # empty rows after what it does not draw.
        if self.rate is None:
            return False
        if not self.left and (self.row is None or self.fact(self.row) != "law, or nothing at rate 0"):
            return False
        return run.decide("nothing left", (False, True))

    def _row(self, run: Run, name: str) -> Row:
        # The row of which the variable's fact is known.
        match self.fact(name):
            case "target's row":
                return run.target_row
            case "law of the next child" if NEXT_CHILD in self.env:
                return run.unknown_row(NEXT_CHILD)
            case "law of the next child" | "drafter's row":
                return run.proposal_row
            case "law, or nothing at rate 0" if self._nothing(run):
                return Row([run.space.number(0)] * run.space.tokens)
        return run.unknown_row(f"row {name}")

    def _number(self, run: Run, name: str, spelled: str) -> Symbol:
        # The unknown number of which the variable's fact is known, itself or as an item of a list.
        fact = self.fact(name)
        if name == self.rate and self._nothing(run):
            return run.space.number(0)
        if " * " in fact:
            value: Any = self._factor(run, fact, 0) * self._factor(run, fact, 1)
            run.bounds[id(value)] = (value, False)  # factors are at least 0
            return value
        kind = UNIT if fact in (DIVISOR, "unit") else POSITIVE_NUMBER
        value = run.number_or_row(f"number {spelled}", kind)
        if fact == "at least 1":
            run.space.assume(value - 1, ZERO | POSITIVE)
        elif fact == DIVISOR:
            run.space.assume(value, POSITIVE)
        return value

    def _factor(self, run: Run, fact: str, index: int) -> Symbol:
        # A factor of a product, which may not itself be known as a product.
        name = fact.split(" * ")[index]
        if not isinstance(self.env[name], list) and " * " in self.fact(name):
            raise NotFollowed(f"{name} is known as a product")
        return _item(name, self.start(run, name))

    def rates(self, run: Run, env: Env) -> tuple[Any, Any]:
        """The ratio R, and the rate, which is the ratio too unless a target is left behind."""
        if self.rate is None:
            return run.space.number(1), run.space.number(1)
        value, over = self.named(env)
        return (value, value) if self.left is None else self.left.rates(run, value, over)

    def named(self, env: Env) -> tuple[Any, Any]:
        """The numbers that `rate` and `over` name, themselves, of which bounds are known."""
        assert self.rate is not None
        return _item(self.rate, env[self.rate]), self.over and _item(self.over, env[self.over])

    def row_in(self, run: Run, env: Env) -> Row:
        """The claim's row."""
        row = run.target_row if self.row is None else run.worked_out(env[self.row])
        if not isinstance(row, Row):
            raise NotFollowed(f"{self.row} is not a row that is known")
        return row

    def check(self, run: Run, env: Env, node: Any) -> None:
        """Raises Weaken unless the facts hold where a run arrives at the place, for the node."""
        for name, old in self.env.items():
            value = env.get(name, UNKNOWN)
            if isinstance(old, Node) and value is not node:
                raise NotFollowed(f"{name} is not the node of the loop")
            if self._is_fixed(name) and (type(value) is not type(old) or value != old):
                raise NotFollowed(f"{name} is not the same wherever the place is reached")
            values: list[Any] = []
            if isinstance(old, list) and name in self.changing:
                values = value
            elif (isinstance(old, Symbol) or _is_row(old)) and name != NEXT_CHILD:
                values = [value]
            for each in values:
                known = fact = self.fact(name)
                while not self._holds(run, fact, each, env, node):
                    run.must_occur()
                    if self.facts[name] + 1 == len(self.facts_of(name)):
                        raise NotFollowed(f"{name} is not known to be {fact}")
                    self.facts[name] += 1
                    fact = self.fact(name)
                if fact != known:
                    raise Weaken(f"{name}: {known}")

    def _holds(self, run: Run, fact: str, value: Any, env: Env, node: Any) -> bool:
        if " * " in fact:
            a, b = (_item(name, env.get(name)) for name in fact.split(" * "))
            return isinstance(value, Symbol | int) and bool(value == a * b)
        if fact in (*NUMBER_FACTS, DIVISOR, "at least 1"):
            return isinstance(value, Symbol | int) and _number_holds(run, fact, value)
        match fact:
            case "target's row" if node is run.here:
                return _equal(value, run.target_row)
            case "target's row":
                return isinstance(value, TargetRow) and value.node is node
            case "law of the next child":
                return _equal(value, run.next_law(env))
            case "drafter's row":
                return node is run.here and _equal(value, run.proposal_row)
        return self._is_law(run, fact, run.worked_out(value), env)

    def _is_law(self, run: Run, fact: str, value: Any, env: Env) -> bool:
        # Whether a row has mass 1, or, where the fact allows it, nothing at rate 0.
        if not isinstance(value, Row) or (not value.positive and any(entry < 0 for entry in value)):
            return False
        mass = rows.total(value)
        if mass == 1:
            return True
        return fact != "law" and mass == 0 and self.rate is not None and self.rates(run, env)[1] == 0


@dataclass(frozen=True)
class Later:
    """The loop back along the chain that a run goes on at: what it runs over, and what is known there."""

    loop: Loop
    columns: tuple
    function: Function | None
    env: Env


def _number_holds(run: Run, fact: str, value: Any) -> bool:
    # Whether what is known of a number's bounds, or of its sign, shows the fact.
    known, unit = run.bounds.get(id(value), (None, False))
    match fact:
        case "unit":
            return unit or ((known is not None or not value < 0) and not value > 1)
        case "at least 0":
            return known is not None or not value < 0
        case "above 0, at most 1":
            return value > 0 and (unit or not value > 1)
    return not value < 1  # "at least 1"


def _is_row(value: Any) -> bool:
    return isinstance(value, Row | TargetRow)


def _item(name: str, value: Any) -> Any:
    # The number that is meant by a name: itself, or the last of a list along the chain.
    if isinstance(value, list):
        value = value[-1]
    if not isinstance(value, Symbol | int):
        raise NotFollowed(f"{name} is not a number")
    return value


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, Without) and isinstance(b, Without):
        return a.token is b.token and _equal(a.row, b.row)
    if isinstance(a, Row) and isinstance(b, Row):
        return a is b or all(bool(x == y) for x, y in zip(a, b, strict=True))
    return False
