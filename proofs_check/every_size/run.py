"""Runs a function's own syntax tree on abstract nodes and rows, from its start or from the head of a loop."""

import ast
import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import isfunction
from itertools import pairwise
from typing import Any, NoReturn

from draftproof.proofs_check.cells.symbol import ZERO, Symbol
from draftproof.proofs_check.every_size.contracts import contract_of, planned
from draftproof.proofs_check.every_size.flow import (
    Do,
    Function,
    Loop,
    NotFollowed,
    Return,
    Step,
    Test,
    flow_of,
)
from draftproof.proofs_check.every_size.space import LAW, POSITIVE_NUMBER, UNIT, Space
from draftproof.proofs_check.every_size.values import (
    UNKNOWN,
    Backwards,
    Below,
    Chain,
    Children,
    Count,
    Edges,
    LeafOf,
    Named,
    Node,
    Plan,
    Prefix,
    Row,
    Segments,
    Stack,
    TargetRow,
    Token,
    Unknown,
    Without,
    Zipped,
)
from draftproof.theory import rows
from draftproof.theory.oracle import Oracle

NUMBER, ROW, TOKEN, ROW_OR_NUMBER = Symbol, Row, Token, (Symbol, Row)
OPERATIONS: dict[Callable, tuple] = {
    rows.share: (NUMBER, NUMBER),
    rows.ratio: (NUMBER, NUMBER),
    rows.maximum: (NUMBER, NUMBER),
    rows.minimum: (NUMBER, NUMBER),
    rows.positive: (NUMBER,),
    rows.possible: (NUMBER,),
    rows.excess: (ROW, ROW),
    rows.meet: (ROW, ROW),
    rows.add: (ROW, ROW),
    rows.scale: (NUMBER, ROW),
    rows.total: (ROW,),
    rows.normalise: (ROW,),
    rows.otherwise: (ROW, ROW),
    rows.without: (ROW, TOKEN),
    rows.point: (TOKEN, ROW),
    rows.has_mass: (ROW,),
}
"""The functions of theory/rows.py that a proof can run, with their arguments: linear in a token's entries
while the signs that they compare stay the same, or about one token.
"""

ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}
COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}

Env = dict[str, Any]


class Refuted(Exception):
    """A coin outside [0, 1], a row that is no law, or another law than claimed."""


class Decide(Exception):
    """The run depends on how the draft is made: what is asked, and the answers that are possible."""

    def __init__(self, question: str, answers: Sequence[Any]):
        super().__init__(question)
        self.question, self.answers = question, answers


class Vacuous(Exception):
    """The run cannot occur: the drafted token has probability zero."""


@dataclass(frozen=True, eq=False)
class TailCall:
    """A call whose result is the caller's."""

    function: Function
    env: Env


def iterator(loop: ast.For) -> str:
    """The name under which the environment keeps what a loop iterates over."""
    return f"for {loop.lineno}:{loop.col_offset}"


class Run:
    """One run, in a `scenario` of answers to the questions that depend on the draft.

    `hypotheses` answers arrivals at loops and calls of functions whose claim is assumed; it gets the run
    itself.
    """

    def __init__(self, space: Space, oracle: Oracle, scenario: dict[str, Any], mode: str, hypotheses: Any):
        self.space, self.oracle, self.scenario, self.mode = space, oracle, scenario, mode
        self.hypotheses = hypotheses
        self.here = Node()
        self.examined = False  # whether a child of `here` was looked at
        self.child: Node | None = None
        self.drawn_from: Row | Without | None = None  # the law of the child that was looked at
        self.start: Any = None
        self.function: Function | None = None
        self.series: list[tuple[Symbol, Symbol, Symbol]] = []  # (b, and what `powers` says of it)
        self.env: Env = {}
        self.gained, self.reach = (
            space.number(0),
            space.number(1),
        )  # mass that y got in loops, and mass that goes on
        self.bounds: dict[
            int, tuple[Symbol, bool]
        ] = {}  # numbers known to be at least 0; whether also at most 1

    # What is unknown.

    def unknown_row(self, name: str) -> Row:
        row = self.space.get(name, LAW)
        assert isinstance(row, Row)
        return row

    @property
    def target_row(self) -> Row:
        if self.hypotheses.carry is not None and self.scenario.get("nothing left"):
            return Row([self.space.number(0)] * self.space.tokens)
        return self.unknown_row("p")

    @property
    def modified(self) -> Symbol:
        """How much likelier a text is after y under the target that is left behind than under the target.

        Just as likely where y is never drafted, since Q is 0 then and norm((P p)+) = p.
        """
        if not self.proposal_row[0] > 0:
            return self.space.number(1)
        return self.number_or_row("modified", POSITIVE_NUMBER)

    @property
    def proposal_row(self) -> Row:
        return self.unknown_row("q")

    def decide(self, question: str, answers: Sequence[Any]) -> Any:
        if question not in self.scenario:
            raise Decide(question, answers)
        return self.scenario[question]

    @property
    def inner(self) -> bool:
        """Whether `here` has children."""
        return self.decide("has children", (False, True))

    def draw_child(self, law: Any) -> Node:
        """The next child of `here`; its token has the law, or is any token where that is None."""
        self.examined = True
        if law is None or self.mode == "any":
            law = None
            case = self.decide("token", ("y", "z"))
        else:
            case = self.decide("token", ("all",))
        self.drawn_from = law
        if case == "all":
            assert law is not None
            index = self.oracle.choose(law)
            token = Token(index, whole=index > 0)
        else:
            token = Token("yz".index(case))
            if law is not None and not law[token.index] > 0:
                raise Vacuous
        self.child = Node(token)
        return self.child

    # Running.

    def go(self, step: Step, env: Env) -> Symbol:
        """The mass that the rest of the run gives to y."""
        while True:
            if isinstance(step, Do):
                self.do(step.statement, env)
                step = step.next
            elif isinstance(step, Test):
                step = step.yes if self.truth(self.value(step.condition, env)) else step.no
            elif isinstance(step, Return):
                result = None if step.value is None else self.result(step.value, env)
                if not isinstance(result, TailCall):
                    return self.contribution(result)
                self.function, env = result.function, result.env
                step = self.function.first
            else:
                following = self.hypotheses.arrive(self, step, env)
                if not isinstance(following, Do | Test | Return | Loop):
                    return following
                step = following

    def enter(self, loop: Loop, env: Env) -> Step:
        """One pass through the head of a loop that the run starts at."""
        statement = loop.statement
        if isinstance(statement, ast.While):
            return loop.body if self.truth(self.value(statement.test, env)) else loop.exit
        items = env[iterator(statement)]
        if isinstance(items, Edges):
            if not self.inner:
                return loop.exit
            self.bind(statement.target, (self.here, self.draw_child(self.proposal_row)), env)
            return loop.body
        if isinstance(items, Children):
            if not self.decide("one more child", (False, True)):
                return loop.exit
            self.bind(statement.target, self.draw_child(self.next_law(env)), env)
            return loop.body
        raise NotFollowed(f"line {statement.lineno}: a loop over {type(items).__name__}")

    def result(self, expression: ast.expr, env: Env) -> Any:
        """What a function returns, or the call whose result it returns."""
        match expression:
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                function, values = self.name(name, env), [self.value(each, env) for each in arguments]
                if any(isinstance(each, Node) for each in values) or not isfunction(function):
                    return self.call(function, values, {})
                called = flow_of(function)
                if len(values) != len(called.parameters):
                    raise NotFollowed(f"{called.name} with {len(values)} arguments")
                return TailCall(called, dict(zip(called.parameters, values, strict=True)))
        return self.value(expression, env)

    def inlined(self, function: Function, env: Env) -> Any:
        """The result of a function without loops."""
        caller, self.function, step = self.function, function, function.first
        while not isinstance(step, Return):
            match step:
                case Do(statement=statement, next=following):
                    self.do(statement, env)
                    step = following
                case Test(condition=condition, yes=yes, no=no):
                    step = yes if self.truth(self.value(condition, env)) else no
                case _:
                    raise NotFollowed(f"{function.name} has a loop and is not about one node")
        result = None if step.value is None else self.value(step.value, env)
        self.function = caller
        return result

    def next_law(self, env: Env) -> Row | Without | None:
        """The law of the next child: `env["next child"]` follows it as siblings are drawn without
        replacement.
        """
        if self.mode == "any":
            return None
        return env.get("next child", self.proposal_row)

    def contribution(self, result: Any) -> Symbol:
        """The mass that a result gives to y as the next token after `here`, the target's law following."""
        number = self.space.number
        match result:
            case None:
                return number(0)
            case Below(node=node):
                return self.arrived(node)
            case (Node() | LeafOf() as node, row):
                return self.stopped(self.resolved(node), row)
        raise NotFollowed(f"the result is {type(result).__name__}, not (node, row)")

    def arrived(self, node: Any) -> Symbol:
        """Mass of y once the text is known to go on through the node, and then by the target's law."""
        if node is self.here:
            return self.target_row[0]
        if isinstance(node, Node) and node.token is not None:
            return self.space.number(int(node.token.index == 0))
        raise NotFollowed("a stop at a node that is neither this one nor a child of it")

    def stopped(self, node: Any, row: Any) -> Symbol:
        """Mass of y when verification stops at the node and the next token is drawn from the row."""
        if isinstance(row, TargetRow):
            if row.node is not node or node is self.here:
                raise NotFollowed("the last token is drawn from the target's row at another node")
            self.use(node)
            return self.arrived(node)
        row = self.worked_out(row)
        if not isinstance(row, Row) or node is not self.here:
            raise NotFollowed("the row of the last token is not known")
        self.require_law(row)
        if self.hypotheses.accepted and not self.hypotheses.at_root:
            return self.space.number(0)
        return row[0] * self.modified if self.hypotheses.carry is not None and self.inner else row[0]

    def use(self, node: Node) -> None:
        """What is below the node is asked for: its draft and coins are fresh, so once only."""
        if not isinstance(node, Node) or node.used:
            raise NotFollowed("a subtree is looked at twice")
        node.used = True

    def resolved(self, node: Any) -> Any:
        return self.here if isinstance(node, LeafOf) and self.scenario.get("has children") is False else node

    def accept(self, probability: Any) -> bool:
        if not isinstance(probability, Symbol | int) or isinstance(probability, bool):
            raise NotFollowed(f"a coin of {type(probability).__name__}")
        self.require_unit(probability, "a coin")
        return self.oracle.accept(self.space.number(1) * probability)

    def refute(self, why: str) -> NoReturn:
        """The run goes wrong, unless it cannot occur."""
        self.must_occur()
        raise Refuted(why)

    def must_occur(self) -> None:
        """Raises Vacuous where no numbers have the signs that the run depends on."""
        if self.space.surely_empty(self.space.enumeration.cell):
            raise Vacuous

    def require_unit(self, number: Any, what: str) -> None:
        """Raises Refuted unless the number lies in [0, 1]."""
        _, unit = self.bounds.get(id(number), (None, False))
        if not unit and (number < 0 or number > 1):
            self.refute(f"{what} that can lie outside [0, 1]")

    def require_law(self, row: Row) -> None:
        if not row.positive and any(entry < 0 for entry in row):
            self.refute("a row with a negative entry is drawn from")
        if rows.total(row) != 1:
            self.refute("a row is drawn from whose mass is not 1")

    def fresh(self, kind: str, *of: Any) -> Any:
        """An unknown of which only the kind is known: the same one for the same arguments `of`."""
        results = self.hypotheses.results
        return self.number_or_row(f"result {results.setdefault(repr((kind, of)), 1 + len(results))}", kind)

    def number_or_row(self, name: str, kind: str) -> Any:
        """The unknown of that name, with what its kind says of its sign."""
        unknown = self.space.get(f"{name} {kind}", kind)  # of another kind, it is another unknown
        if isinstance(unknown, Symbol):
            self.bounds.setdefault(id(unknown), (unknown, kind == UNIT))
        return unknown

    def powers(self, b: Symbol) -> tuple[Symbol, Symbol]:
        """1 + (1 - b) + .. + (1 - b)^(K-2) and (1 - b)^(K-1), with K children: b times the first is 1 - the
        other.
        """
        for known, early, late in self.series:
            if b == known:
                return early, late
        early, late = self.fresh(POSITIVE_NUMBER, "early", b), self.fresh(UNIT, "late", b)
        self.space.assume(1 - b * early - late, ZERO)
        self.series.append((b, early, late))
        return early, late

    # Statements and expressions.

    def do(self, statement: ast.stmt, env: Env) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                result = self.value(value, env)
                for target in targets:
                    self.bind(target, result, env)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.bind(target, self.value(value, env), env)
            case ast.AugAssign(target=ast.Name() as name, op=op, value=value):
                self.bind(name, self.arithmetic(op, self.name(name.id, env), self.value(value, env)), env)
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant):
                    self.value(value, env)
            case ast.Assert(test=test):
                if not self.truth(self.value(test, env)):
                    self.refute(f"the assertion of line {statement.lineno} can fail")
            case ast.For() as loop:
                items = self.value(loop.iter, env)
                if isinstance(items, Children) and self.examined:
                    raise NotFollowed(f"line {loop.lineno}: the children of a node are looked at twice")
                env[iterator(loop)] = items
            case ast.Pass():
                pass
            case _:
                raise NotFollowed(f"line {statement.lineno}: {type(statement).__name__} is not followed")

    def bind(self, target: ast.expr, value: Any, env: Env) -> None:
        match target:
            case ast.Name(id=name):
                env[name] = value
            case ast.Tuple(elts=[ast.Starred(value=ast.Name(id=first)), ast.Name(id=last)]) if isinstance(
                value, Chain
            ):
                env[first], env[last] = Chain(inner=True), LeafOf()
            case ast.Tuple(elts=targets) if type(value) is tuple and len(value) == len(targets):
                for each, part in zip(targets, value, strict=True):
                    self.bind(each, part, env)
            case _:
                raise NotFollowed(f"line {target.lineno}: an assignment of {type(value).__name__}")

    def name(self, name: str, env: Env) -> Any:
        assert self.function is not None
        if name in env or name in self.function.locals:
            value = env.get(name, UNKNOWN)
        else:
            value = self.function.globals.get(name, vars(builtins).get(name, UNKNOWN))
        if isinstance(value, Unknown):
            raise NotFollowed(f"the value of {name} is not known where it is read")
        return value

    def truth(self, value: Any) -> bool:
        match value:
            case bool():
                return value
            case None:
                return False
            case Below() | Node() | LeafOf():
                return True
            case Children():
                return self.inner
        raise NotFollowed(f"the truth of {type(value).__name__}")

    def value(self, expression: ast.expr, env: Env) -> Any:
        match expression:
            case ast.Constant(value=bool() | int() | None as value):
                return value
            case ast.Name(id=name):
                return self.name(name, env)
            case ast.NamedExpr(target=target, value=value):
                result = self.value(value, env)
                self.bind(target, result, env)
                return result
            case ast.Tuple(elts=parts):
                return tuple([self.value(part, env) for part in parts])
            case ast.List(elts=parts):
                return [self.value(part, env) for part in parts]
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self.value(yes if self.truth(self.value(test, env)) else no, env)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.truth(self.value(operand, env))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.arithmetic(ast.Sub(), 0, self.value(operand, env))
            case ast.BoolOp(op=op, values=parts):
                for part in parts:
                    result = self.value(part, env)
                    if self.truth(result) != isinstance(op, ast.And):
                        break
                return result
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic(op, self.value(left, env), self.value(right, env))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.comparison(op, self.value(left, env), self.value(right, env))
            case ast.Subscript(value=value, slice=index):
                return self.item(self.value(value, env), self.value(index, env))
            case ast.Attribute(value=value, attr=attribute):
                return self.attribute(self.value(value, env), attribute)
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=arguments, keywords=[]):
                return self.method(
                    self.value(value, env), method, [self.value(each, env) for each in arguments]
                )
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                options = {str(each.arg): each.value for each in keywords}
                return self.call(self.name(name, env), [self.value(each, env) for each in arguments], options)
        raise NotFollowed(f"line {expression.lineno}: {type(expression).__name__} is not followed")

    def arithmetic(self, op: ast.operator, a: Any, b: Any) -> Any:
        match op, a, b:
            case ast.Sub(), Count(offset=0), 1:
                return Count(-1)
            case ast.Mult(), list(), Count():
                if len(a) != 1:
                    raise NotFollowed("a repeated list of several items")
                return Segments(((a[0], b),))
            case ast.Add(), Segments(items=items), list():
                return Segments((*items, *((item, 1) for item in b)))
            case ast.Pow(), Symbol(), Count(offset=offset):
                _, late = self.powers(1 - a)
                return late if offset else late * a
        if not all(isinstance(each, Symbol | int) for each in (a, b)) or type(op) not in ARITHMETIC:
            raise NotFollowed(f"{type(op).__name__} of {type(a).__name__} and {type(b).__name__}")
        if isinstance(op, ast.Div):
            a = self.space.number(1) * a
        if isinstance(op, ast.Pow) and not isinstance(b, int):
            raise NotFollowed("a power that is not a whole number")
        return ARITHMETIC[type(op)](a, b)

    def comparison(self, op: ast.cmpop, a: Any, b: Any) -> bool:
        if isinstance(op, ast.Is | ast.IsNot):
            if b is not None:
                raise NotFollowed("`is` with something other than None")
            return (a is None) == isinstance(op, ast.Is)
        if type(op) in COMPARISONS and all(isinstance(each, Symbol | int) for each in (a, b)):
            with self.space.notes("explicit"):
                return COMPARISONS[type(op)](a, b)
        raise NotFollowed(f"a comparison of {type(a).__name__} and {type(b).__name__}")

    def item(self, value: Any, index: Any) -> Any:
        value = self.worked_out(value)
        match value, index:
            case Row(), Token():
                if index.whole and index is not (self.child and self.child.token):
                    raise NotFollowed("the entry of a token that was not drafted")
                entry = value[index.index]
                if value.positive:
                    self.bounds.setdefault(id(entry), (entry, False))
                return entry
            case Named(name="target"), Prefix(node=node):
                node = self.resolved(node)
                return self.target_row if node is self.here else TargetRow(node)
            case Chain(inner=False), -1:
                return LeafOf()
            case Chain(), 0:
                if self.hypotheses.at_root:
                    return self.here
            case Children(), 0 if not self.examined:
                if not self.inner:
                    raise NotFollowed("the first of no children")
                return self.draw_child(self.proposal_row)
            case Stack(top=top), int() if -len(top) <= index < 0:
                return top[index]
            case list(), int() if -len(value) <= index < len(value):
                return value[index]
        raise NotFollowed(f"an item of {type(value).__name__}")

    def attribute(self, value: Any, attribute: str) -> Any:
        if isinstance(value, Named) and value.name == "draft" and attribute != "root":
            self.hypotheses.asked_draft = True
        match value, attribute:
            case ((Node() | LeafOf()), "prefix"):
                return Prefix(value)
            case Node(), "proposal" if value is self.here:
                return self.proposal_row if self.inner else None
            case Node(), "children" if value is self.here:
                return Children()
            case Node(token=Token() as token), "token":
                return token
            case Plan(taken=taken), "accepted":
                return rows.total(taken)
            case Plan(rest=rest), "left":
                return rest
            case Named(name="draft"), "root" if self.hypotheses.at_root:
                return self.here
            case Named(name="draft"), "path" if self.mode == "chain":
                return Chain()
            case Named(name="draft"), "replacement" if self.mode != "any":
                return self.mode == "with replacement"
        raise NotFollowed(f"{type(value).__name__}.{attribute}")

    def method(self, value: Any, method: str, arguments: list[Any]) -> Any:
        match value, method, arguments:
            case Named(name="oracle"), "accept", [probability]:
                return self.accept(probability)
            case Named(name="oracle"), "choose", [Row() | Without() as row]:
                row = self.worked_out(row)
                self.require_law(row)
                index = self.oracle.choose(row)
                return Token(index, whole=index > (self.space.individual or 0))
            case ((list() | Stack()), "append", [item]):
                (value.top if isinstance(value, Stack) else value).append(item)
                return None
            case Stack(top=[*_, _]), "pop", []:
                return value.top.pop()
            case Plan(), _, _:
                return planned(self, value, method, arguments)
            case Node(), "child", [Token() as token] if value is self.here:
                return self.lookup(token)
        raise NotFollowed(f"{type(value).__name__}.{method}")

    def lookup(self, token: Token) -> Node | None:
        """`here.child(token)`: whether the token was drafted depends on the siblings."""
        child = self.child
        looked_at = None if child is None else child.token
        if looked_at is not None and (
            looked_at is token or (looked_at.index == token.index and not token.whole)
        ):
            return child
        drafted: Any = self.space.get(f"drafted {token.index} {looked_at and looked_at.index}", UNIT)
        if not self.oracle.accept(drafted):
            return None
        self.examined = True
        return Node(token)

    def call(self, function: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        if function in (pairwise, reversed, zip):
            if options.keys() - {"strict"} or (function is not zip and options):
                raise NotFollowed(f"options of {function.__name__}")
            return self.sequence(function, arguments)
        if options:
            raise NotFollowed("arguments by name")
        if (
            function is rows.one
            and len(arguments) == 1
            and isinstance(arguments[0], Row | TargetRow | Without)
        ):
            return self.space.number(1)
        if function in OPERATIONS:
            return self.operation(function, arguments)
        if function is len and len(arguments) == 1 and isinstance(arguments[0], Children):
            return Count() if self.inner else 0
        if (contract := contract_of(self, function)) is not None:
            return contract(self, *arguments)
        if isinstance(function, type) or not callable(function):
            raise NotFollowed(f"a call of {function!r}")
        return self.hypotheses.call(self, flow_of(function), arguments)

    def operation(self, function: Callable, arguments: list[Any]) -> Any:
        """A function of theory/rows.py, run as it stands on the entries of the tokens and classes."""
        kinds = OPERATIONS[function]
        match arguments:
            case [Row() | Without() as row, Token() as token] if function is rows.without:
                return Without(row, token)
        arguments = [
            self.space.number(each) if type(each) is int else self.worked_out(each) for each in arguments
        ]
        if len(arguments) != len(kinds) or not all(map(isinstance, arguments, kinds)):
            raise NotFollowed(
                f"{function.__name__} of {', '.join(type(each).__name__ for each in arguments)}"
            )
        if function in (rows.excess, rows.meet):
            result = self.compared_rows(function, *arguments)
        else:
            with self.space.notes():
                try:
                    result = function(
                        *[each.index if isinstance(each, Token) else each for each in arguments]
                    )
                except ZeroDivisionError:
                    if function is not rows.share or not self.positive(arguments[0]):
                        raise
                    result = self.space.number(1)  # the part is not below 0, so not below a whole of 0
        if isinstance(result, tuple):
            result = Row(result)
        self.bound(function, arguments, result)
        return result

    def positive(self, value: Any) -> bool:
        """Whether a number or the entries of a row are known not to be below 0."""
        if isinstance(value, Row):
            return value.positive
        return not isinstance(value, Symbol) or id(value) in self.bounds or self.space.never_below_zero(value)

    def bound(self, function: Callable, arguments: list[Any], result: Any) -> None:
        """Notes what is known of a result's sign by the way that it was made."""
        if isinstance(result, Row):
            result.positive = function in (rows.excess, rows.point) or all(map(self.positive, arguments))
        elif isinstance(result, Symbol):
            if function is rows.share and self.positive(arguments[0]):
                self.bounds[id(result)] = (result, True)
            elif function is rows.positive or all(map(self.positive, arguments)):
                self.bounds[id(result)] = (result, False)

    def worked_out(self, value: Any) -> Any:
        if isinstance(value, Without):
            return Row(rows.without(self.worked_out(value.row), value.token.index))
        return value

    def compared_rows(self, function: Callable, p: Row, q: Row) -> tuple:
        """(p - q)+ or min(p, q): y and the classes are told apart by the sign of p - q, and where it is 0
        both formulas give the same.
        """
        differences = [a - b for a, b in zip(p, q, strict=True)]
        below = self.space.classify(differences)
        if function is rows.excess:
            return tuple(
                self.space.number(0) if low else d for low, d in zip(below, differences, strict=True)
            )
        return tuple(a if low else b for low, a, b in zip(below, p, q, strict=True))

    def same_signs(self, forms: set[str]) -> None:
        """A drafted token's entries were compared: the classes have to be told apart by these forms."""
        space = self.space
        names = space.number.variables.names()
        for form in sorted(forms):
            polynomial = space.solver.polynomials[form]
            if space.own_degree(polynomial) != {1}:
                continue  # a form of the class's own entries
            differences = []
            for token in range(space.tokens):
                swap = list(space.number.variables.gens())
                for at in space.own:
                    swap[at] = space.known[names[at].rsplit("_", 1)[0]][token].top
                differences.append(space.number(polynomial.compose(*swap, ctx=space.number.variables)))
            space.classify(differences)

    def sequence(self, function: Any, arguments: list[Any]) -> Any:
        match function, arguments:
            case _, [Chain(inner=False)] if function is pairwise:
                return Edges()
            case _, [Chain() | Stack() | list()] if function is reversed:
                return Backwards(arguments[0])
            case _, [*columns] if function is zip:
                return Zipped(tuple(columns))
        raise NotFollowed(f"{function.__name__} of {', '.join(type(each).__name__ for each in arguments)}")
