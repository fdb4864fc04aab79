"""Runs a function's own syntax tree on abstract nodes and rows, from its start or from the head of a loop.

Each layer of a run is a file: the state of the run, what can be done with its values (`objects`), and here
the syntax: control flow, statements and expressions.
"""

import ast
import builtins
from dataclasses import dataclass
from inspect import isfunction
from typing import Any

from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.every_size.machine.flow import (
    Do,
    Env,
    Function,
    Loop,
    NotFollowed,
    Return,
    Step,
    Test,
    flow_of,
    iterator,
)
from draftproof.proofs_check.every_size.machine.objects import Objects
from draftproof.proofs_check.every_size.machine.state import Refuted
from draftproof.proofs_check.every_size.machine.values import (
    EDGES,
    PATH,
    UNKNOWN,
    Below,
    Children,
    Named,
    Node,
    Row,
    Unknown,
)


@dataclass(frozen=True, eq=False)
class TailCall:
    """A call whose result is the caller's."""

    function: Function
    env: Env


class Run(Objects):
    """One run: which statement comes next, what expressions mean, and the mass that its result gives to y."""

    def go(self, step: Step, env: Env) -> Symbol:
        """The mass that the rest of the run gives to y."""
        while True:
            step = self.walk(step, env)
            if isinstance(step, Return):
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
        if items is EDGES:
            if not self.inner:
                return loop.exit
            self.bind(statement.target, (self.here, self.draw_child()), env)
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

    def contribution(self, result: Any) -> Symbol:
        """The mass that a result gives to y as the next token after `here`, the target's law following."""
        number = self.space.number
        match result:
            case None:
                return number(0)
            case Below(node=node):
                return self.arrived(node)
            case (Node() | Named(name="leaf") as node, row):
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
        if not isinstance(row, Row) or node is not self.here:
            raise NotFollowed("the row of the last token is not known")
        self.require_law(row)
        return row[0]

    # Statements and expressions.

    def walk(self, step: Step, env: Env) -> Return | Loop:
        """Runs statements and branches up to a return or the head of a loop."""
        while True:
            match step:
                case Do(statement=statement, next=following):
                    self.do(statement, env)
                    step = following
                case Test(condition=condition, yes=yes, no=no):
                    step = yes if self.truth(self.value(condition, env)) else no
                case _:
                    return step

    def inlined(self, function: Function, env: Env) -> Any:
        """The result of a function that is run at once."""
        caller, self.function = self.function, function
        step = self.walk(function.first, env)
        if isinstance(step, Loop):
            raise NotFollowed(f"{function} has a loop and is not about one node")
        result = None if step.value is None else self.value(step.value, env)
        self.function = caller
        return result

    def do(self, statement: ast.stmt, env: Env) -> None:
        """A statement; of a `for` loop, the evaluation of what it iterates over."""
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
                    raise Refuted(f"the assertion of line {statement.lineno} can fail")
            case ast.For() as loop:
                env[iterator(loop)] = self.value(loop.iter, env)
            case ast.Pass():
                pass
            case _:
                raise NotFollowed(f"line {statement.lineno}: {type(statement).__name__} is not followed")

    def bind(self, target: ast.expr, value: Any, env: Env) -> None:
        """An assignment to a name or to a tuple of names."""
        match target:
            case ast.Name(id=name):
                env[name] = value
            case ast.Tuple(elts=targets) if type(value) is tuple and len(value) == len(targets):
                for each, part in zip(targets, value, strict=True):
                    self.bind(each, part, env)
            case _:
                said = "the path's nodes as a list" if value is PATH else type(value).__name__
                raise NotFollowed(f"line {target.lineno}: an assignment of {said} is not followed")

    def name(self, name: str, env: Env) -> Any:
        """The value of a name: local, global or built in."""
        assert self.function is not None
        if name in env or name in self.function.locals:
            value = env.get(name, UNKNOWN)
        else:
            value = self.function.globals.get(name, vars(builtins).get(name, UNKNOWN))
        if isinstance(value, Unknown):
            raise NotFollowed(f"the value of {name} is not known where it is read")
        return value

    def truth(self, value: Any) -> bool:
        """Whether the value counts as true."""
        match value:
            case bool():
                return value
            case None:
                return False
            case Below() | Node() | Named(name="leaf"):
                return True
            case Children():
                return self.inner
        raise NotFollowed(f"the truth of {type(value).__name__}")

    def value(self, expression: ast.expr, env: Env) -> Any:
        """The value of an expression."""
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
