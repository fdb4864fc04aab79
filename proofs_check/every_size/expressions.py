"""Statements and expressions of a function's syntax tree."""

import ast
import builtins
from typing import Any

from draftproof.proofs_check.every_size.flow import (
    Do,
    Env,
    Function,
    Loop,
    NotFollowed,
    Return,
    Step,
    Test,
    iterator,
)
from draftproof.proofs_check.every_size.objects import Objects
from draftproof.proofs_check.every_size.values import (
    UNKNOWN,
    Below,
    Chain,
    Children,
    LeafOf,
    Node,
    Unknown,
)


class Expressions(Objects):
    """Runs statements in an environment of variables. What the values are, and what can be done with them, is
    said by the layers below.
    """

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
                    self.refute(f"the assertion of line {statement.lineno} can fail")
            case ast.For() as loop:
                items = env[iterator(loop)] = self.value(loop.iter, env)
                if self.examined and isinstance(items, Children):
                    raise NotFollowed(f"line {loop.lineno}: the children of a node are looked at twice")
            case ast.Pass():
                pass
            case _:
                raise NotFollowed(f"line {statement.lineno}: {type(statement).__name__} is not followed")

    def bind(self, target: ast.expr, value: Any, env: Env) -> None:
        """An assignment to a name or to a tuple of names."""
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
            case Below() | Node() | LeafOf():
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
