"""All paths through a piece of code of whose values only some integers are known.

A test of anything else can come out either way. A loop is run for any one of its passes, from a state where
nothing is known of what the loop changes, so that all runs of the code are covered.
"""

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import isfunction
from time import thread_time
from types import BuiltinFunctionType, FunctionType
from typing import Any

import z3
from flint import fmpq

from draftproof.proofs_check.cells.solver import OutOfTime
from draftproof.proofs_check.every_size.expressions import Env, Expressions, iterator
from draftproof.proofs_check.every_size.flow import Function, Loop, NotFollowed, Step, flow_of, nested
from draftproof.proofs_check.every_size.operations import COMPARISONS
from draftproof.proofs_check.every_size.values import Named
from draftproof.theory import rows
from draftproof.theory.shared.divergence import entropy_exceeds

DEEPEST = 20
"""Calls within calls."""

NUMBERS = frozenset(each for each in vars(rows).values() if isfunction(each)) | {entropy_exceeds}
"""Functions of rows and numbers, which are not run: what they return is data."""
CONSUMERS = frozenset((all, any, dict, frozenset, list, max, min, set, sorted, sum, tuple))
"""What uses up an iterable at once."""
BUILTINS = CONSUMERS | frozenset((abs, bool, enumerate, fmpq, int, len, range, reversed, zip))
METHODS = frozenset(
    ("add", "append", "copy", "count", "discard", "extend", "get", "index", "items", "keys", "pop", "remove")
) | frozenset(("update", "values"))
"""What data can be asked."""


class Ends(Exception):
    """Nothing more is to be seen on this path: a pass is over, or an error is raised."""


class Data:
    """A value of which nothing is known, or a container of such values. As an index it is some integer."""

    def __init__(self) -> None:
        self.number = z3.FreshInt()


@dataclass(frozen=True, eq=False)
class Range:
    """The integers from `first` on, below `end`; each None where it is not known."""

    first: Any
    end: Any


@dataclass(frozen=True, eq=False)
class Closure:
    """A function, the variables around it and its first arguments. `trusted`: it is not what is judged."""

    function: Function
    around: Env = field(default_factory=dict)
    first: tuple = ()
    trusted: bool = False


@dataclass(eq=False)
class Frame:
    """A call: of which function, at which line it is, and the loops that a pass of is being run."""

    name: str
    trusted: bool
    line: int = 1
    passes: set[Loop] = field(default_factory=set)


class Paths(Expressions):
    """The paths through a function, one after another."""

    def __init__(self, function: Closure):
        self.start = function
        self.trail: list[list[bool]] = []  # the answers left to each question of a path, the last is taken

    def run(self, arguments: list[Any], deadline: float) -> int:
        """Runs the function on every path; how many there are."""
        paths = 0
        while True:
            self.facts: list[Any] = []  # what holds on this path
            self.frames: list[Frame] = []
            self.at = 0
            self.begin()
            with suppress(Ends):
                self.called(self.start, arguments)
            paths += 1
            if thread_time() > deadline:
                raise OutOfTime
            while self.trail and len(self.trail[-1]) == 1:
                self.trail.pop()
            if not self.trail:
                return paths
            self.trail[-1].pop()

    # Paths.

    def begin(self) -> None:
        """A path begins."""

    def changed(self) -> None:
        """Any number of passes may have been run."""

    def raised(self, statement: ast.Raise) -> None:
        """An error is raised."""
        raise Ends

    def either(self, condition: Any = None) -> bool:
        """An answer that is possible; without a condition both are."""
        if self.at == len(self.trail):
            answers = [False, True]
            if condition is not None:
                answers = [each for each in answers if self.possible(condition == each)]
            self.trail.append(answers or [True])
        answer = self.trail[self.at][-1]
        self.at += 1
        if condition is not None:
            self.facts.append(condition == answer)
        return answer

    def possible(self, condition: Any) -> bool:
        """Whether z3 does not exclude the condition on this path."""
        solver = z3.Solver()
        solver.set("timeout", 2000)
        solver.add(*self.facts, condition)
        return solver.check() != z3.unsat

    def any_pass(self, each: Callable[[], Any]) -> Data:
        """What is run any number of times and makes data; the path that looks at one of them ends there."""
        self.changed()
        if self.either():
            self.data(each())
            raise Ends
        return Data()

    def looped(self, loop: Loop, env: Env) -> Step:
        passes = self.frames[-1].passes
        if loop in passes:
            raise Ends
        self.changed()
        env |= {name: Data() for name in loop.assigned}
        if isinstance(loop.statement, ast.While):
            goes_on = self.truth(self.value(loop.condition, env))
        else:
            goes_on = self.either()
        if not goes_on:
            return loop.exit
        passes.add(loop)
        if isinstance(loop.statement, ast.For):
            self.bind(loop.target, self.element(env[iterator(loop.statement)]), env)
        return loop.body

    # Values.

    def data(self, *values: Any) -> Data:
        """Something computed from the values. Raises NotFollowed for what is no data, such as a
        function."""
        for value in values:
            if isinstance(value, tuple):
                self.data(*value)
            elif not isinstance(value, Data | Range | z3.ExprRef | int | str | None):
                kind = f"the {value.name}" if isinstance(value, Named) else type(value).__name__
                raise NotFollowed(f"what becomes of {kind}")
        return Data()

    def integer(self, value: Any) -> Any:
        """The value as an index."""
        if not isinstance(value, Data | z3.ArithRef | int):
            raise NotFollowed(f"{type(value).__name__} as an index")
        return value.number if isinstance(value, Data) else value

    def element(self, items: Any) -> Any:
        """Any element of what a loop runs over."""
        if isinstance(items, Range):
            index = z3.FreshInt()
            self.facts += [] if items.first is None else [index >= items.first]
            self.facts += [] if items.end is None else [index < items.end]
            return index
        return self.data(items)

    def name(self, name: str, env: Env) -> Any:
        value = super().name(name, env)
        known = Data | Range | Closure | Named | z3.ExprRef | tuple | FunctionType | int | str | None
        if isinstance(value, fmpq):
            return Data()
        if not isinstance(value, known) and value not in (*BUILTINS, map):
            raise NotFollowed(f"{name}, which is {type(value).__name__}")
        return value

    def truth(self, value: Any) -> bool:
        match value:
            case Data() | Range():
                return self.either()
            case z3.BoolRef():
                return self.either(value)
            case z3.ArithRef():
                return self.either(value != 0)
            case int() | tuple() | str():
                return bool(value)
        return super().truth(value)

    # Statements and expressions.

    def do(self, statement: ast.stmt, env: Env) -> None:
        match statement:
            case ast.FunctionDef(name=name):
                env[name] = Closure(self.nested(statement), env)
            case ast.Raise():
                self.raised(statement)
            case ast.AugAssign(target=ast.Subscript() as target, value=value):
                self.bind(target, self.value(value, env), env)
            case _:
                super().do(statement, env)

    def asserted(self, statement: ast.Assert, holds: bool) -> None:
        if not holds:
            raise Ends

    def nested(self, tree: ast.FunctionDef | ast.Lambda) -> Function:
        """A function that is made where the run is."""
        assert self.function is not None
        return nested(tree, self.function.globals)

    def bind(self, target: ast.expr, value: Any, env: Env) -> None:
        match target:
            case ast.Tuple(elts=targets) if isinstance(value, Data):
                for each in targets:
                    self.bind(each, Data(), env)
            case ast.Subscript(value=owner, slice=index):
                if not isinstance(self.value(owner, env), Data):
                    raise NotFollowed(f"line {target.lineno}: an assignment to an item of what is no data")
                self.data(self.value(index, env), value)
            case _:
                super().bind(target, value, env)

    def value(self, expression: ast.expr, env: Env) -> Any:
        match expression:
            case ast.Lambda():
                return Closure(self.nested(expression), env)
            case ast.List(elts=parts) | ast.Set(elts=parts):
                return self.data(*[self.value(part, env) for part in parts])
            case ast.Dict(keys=keys, values=values):
                return self.data(*[self.value(part, env) for part in (*keys, *values) if part is not None])
            case ast.Starred(value=value):
                return self.data(self.value(value, env))
            case ast.Slice(lower=lower, upper=upper, step=step):
                return self.data(*[self.value(part, env) for part in (lower, upper, step) if part])
            case ast.ListComp(elt=element) | ast.SetComp(elt=element):
                return self.comprehension(expression, (element,), env)
            case ast.DictComp(key=key, value=value):
                return self.comprehension(expression, (key, value), env)
            case ast.Compare(left=left, ops=[_, _, *_] as ops, comparators=rights):
                a = self.value(left, env)
                for op, right in zip(ops, rights, strict=True):
                    b = self.value(right, env)
                    if not self.truth(self.comparison(op, a, b)):
                        return False
                    a = b
                return True
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=arguments, keywords=[]):
                owner = self.value(value, env)
                values = [self.value(each, env) for each in arguments]
                self.frames[-1].line = expression.lineno
                return self.method(owner, method, values)
            case ast.Call(func=function, args=arguments, keywords=keywords):
                called = self.value(function, env)
                at_once = isinstance(called, type | BuiltinFunctionType) and called in CONSUMERS
                values = [self.argument(each, at_once, env) for each in arguments]
                options = {str(each.arg): self.value(each.value, env) for each in keywords}
                self.frames[-1].line = expression.lineno
                return self.called(called, values, options)
        return super().value(expression, env)

    def argument(self, expression: ast.expr, at_once: bool, env: Env) -> Any:
        """The value of an argument. One that is computed lazily has to be consumed at once."""
        match expression:
            case ast.GeneratorExp(elt=element) if at_once:
                return self.comprehension(expression, (element,), env)
            case ast.Call(func=ast.Name() as called, args=[function, *lists], keywords=[]) if (
                at_once and self.value(called, env) is map
            ):
                each, values = self.value(function, env), [self.value(part, env) for part in lists]
                return self.any_pass(lambda: self.called(each, [self.element(part) for part in values]))
        return self.value(expression, env)

    def comprehension(self, expression: Any, parts: Sequence[ast.expr], env: Env) -> Data:
        """A list, set or table of what is made in any one pass."""
        if any(isinstance(node, ast.NamedExpr) for node in ast.walk(expression)):
            raise NotFollowed(f"line {expression.lineno}: an assignment in a comprehension")
        inner, first = dict(env), self.value(expression.generators[0].iter, env)

        def each() -> tuple:
            for depth, part in enumerate(expression.generators):
                items = self.value(part.iter, inner) if depth else first
                self.bind(part.target, self.element(items), inner)
                for test in part.ifs:
                    if not self.truth(self.value(test, inner)):
                        raise Ends
            return tuple([self.value(part, inner) for part in parts])

        return self.any_pass(each)

    # What the values can do.

    def arithmetic(self, op: ast.operator, a: Any, b: Any) -> Any:
        if isinstance(a, z3.ArithRef | int) and isinstance(b, z3.ArithRef | int):
            a, b = (int(each) if isinstance(each, bool) else each for each in (a, b))
            if isinstance(op, ast.Add | ast.Sub):
                return a + b if isinstance(op, ast.Add) else a - b
        return self.data(a, b)

    def comparison(self, op: ast.cmpop, a: Any, b: Any) -> Any:
        numbers = all(isinstance(each, z3.ArithRef | int) for each in (a, b))
        if numbers and type(op) in COMPARISONS:
            return COMPARISONS[type(op)](a, b)
        return self.data(a, b)

    def item(self, value: Any, index: Any) -> Any:
        if isinstance(value, tuple) and isinstance(index, int) and -len(value) <= index < len(value):
            return value[index]
        return self.data(value, index)

    def method(self, value: Any, method: str, arguments: list[Any]) -> Any:
        if isinstance(value, Data) and method in METHODS:
            return self.data(*arguments)
        return self.called(self.attribute(value, method), arguments)

    def called(self, function: Any, arguments: list[Any], options: dict[str, Any] | None = None) -> Any:
        """The result of a call: the function is run, or it is one of NUMBERS or of BUILTINS."""
        options = options or {}
        if isinstance(function, FunctionType):
            if function in NUMBERS:
                return self.data(*arguments, *options.values())
            function = Closure(flow_of(function))
        if isinstance(function, Closure):
            values = (*function.first, *arguments)
            if options or len(values) != len(function.function.parameters) or len(self.frames) > DEEPEST:
                raise NotFollowed(f"{function.function} with {len(values)} arguments")
            self.frames.append(Frame(function.function.name, function.trusted))
            bound = dict(zip(function.function.parameters, values, strict=True))
            result = self.inlined(function.function, function.around | bound)
            self.frames.pop()
            return result
        if function is range and 1 <= len(arguments) <= 2:
            ends = [each if isinstance(each, z3.ArithRef | int) else None for each in arguments]
            self.data(*arguments)
            return Range(0 if len(ends) == 1 else ends[0], ends[-1])
        if function not in BUILTINS:
            return super().call(function, arguments, options)
        key = options.pop("key", None)
        result = self.data(*arguments, *options.values())
        return result if key is None else self.any_pass(lambda: self.called(key, [Data()]))
