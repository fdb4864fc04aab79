"""Runs a function's own syntax tree on abstract nodes and rows, from its start or from the head of a loop.

Each layer of a run is a file: the state of the run, its arithmetic (`operations`), what its objects answer,
expressions, and here the control flow.
"""

import ast
from dataclasses import dataclass
from inspect import isfunction
from typing import Any

from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.every_size.expressions import Expressions
from draftproof.proofs_check.every_size.flow import (
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
from draftproof.proofs_check.every_size.values import (
    Below,
    Children,
    Edges,
    LeafOf,
    Node,
    Row,
    TargetRow,
)


@dataclass(frozen=True, eq=False)
class TailCall:
    """A call whose result is the caller's."""

    function: Function
    env: Env


class Run(Expressions):
    """One run: which statement comes next, and the mass that its result gives to y."""

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
        if isinstance(items, Edges):
            if not self.inner:
                return loop.exit
            self.bind(statement.target, (self.here, self.draw_child(self.proposal_row)), env)
            return loop.body
        if isinstance(items, Children):
            if not self.decide("one more child", (False, True)):
                self.examined = True  # by the passes before
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
