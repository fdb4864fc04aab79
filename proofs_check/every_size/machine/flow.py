"""The control flow of a function, from its own source: statements linked to what runs next.

Loops are the places where a proof needs an induction hypothesis: `Loop` and `While` are the only steps that
control flow can come back to.
"""

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from textwrap import dedent
from types import CodeType
from typing import Any, TypeAlias


class NotFollowed(Exception):
    """The proof cannot follow the code: the verifier may be right, but nothing is proved."""


@dataclass(eq=False)
class Do:
    """A statement without control flow of its own, or the evaluation of a loop's iterable."""

    statement: ast.stmt
    next: "Step"


@dataclass(eq=False)
class Test:
    """A branch."""

    condition: ast.expr
    yes: "Step"
    no: "Step"


@dataclass(eq=False)
class Return:
    """The end of the function."""

    value: ast.expr | None


@dataclass(eq=False)
class Loop:
    """The head of a loop: of a `for` loop over an iterable, or of a `while` loop with a condition."""

    statement: Any  # ast.For or ast.While
    body: "Step" = field(init=False)
    exit: "Step" = field(init=False)

    def __repr__(self) -> str:
        return f"the loop of line {self.statement.lineno}"  # of the function

    @cached_property
    def assigned(self) -> frozenset[str]:
        """The names that are assigned in the loop."""
        return frozenset(assigned(self.statement))


Step: TypeAlias = Do | Test | Return | Loop
Env: TypeAlias = dict[str, Any]
"""The variables of a function, by name."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function: its parameters and the first step of its body."""

    name: str
    parameters: tuple[str, ...]
    first: Step
    globals: dict
    locals: frozenset[str]

    def __repr__(self) -> str:
        return self.name


@lru_cache(256)
def flow_of(function: Callable) -> Function:
    """The control flow of a plain Python function. Raises NotFollowed for anything else, such as a generator,
    and where the source on disk is not the code that runs.

    >>> from draftproof.theory.verifiers import named
    >>> flow_of(named("traversal").verify).parameters
    ('oracle', 'draft', 'target')
    """
    if not inspect.isfunction(function) or function.__closure__:
        raise NotFollowed(f"{function!r} is not a plain function")
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        raise NotFollowed(f"there is no source of {function.__name__}") from None
    tree = ast.parse(dedent(source)).body[0]
    if not isinstance(tree, ast.FunctionDef) or tree.decorator_list:
        raise NotFollowed(f"{function.__name__} is not a plain function")
    name, arguments = tree.name, tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        raise NotFollowed(f"{name} has optional or variable arguments")
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(tree)):
        raise NotFollowed(f"{name} is a generator, which a call does not run")
    parameters = tuple(each.arg for each in arguments.args)
    local = frozenset(assigned(ast.Module(tree.body, []))) | frozenset(parameters)
    first = _linked(tree.body, Return(None), None)
    module = compile(ast.Module([tree], []), "", "exec")
    compiled = next(each for each in module.co_consts if isinstance(each, CodeType))
    rewritten = "@pytest_ar" in function.__globals__  # pytest has its own code for asserts
    if not rewritten and _bytes(compiled) != _bytes(function.__code__):
        raise NotFollowed(f"the source of {function.__name__} is not the code that runs")
    return Function(name, parameters, first, function.__globals__, local)


def iterator(loop: ast.For) -> str:
    """The name under which the environment keeps what a loop iterates over."""
    return f"for {loop.lineno}:{loop.col_offset}"


def _bytes(code: CodeType) -> tuple:
    inner = tuple(_bytes(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts)
    return code.co_code, code.co_names, code.co_varnames, inner


def _linked(body: Sequence[ast.stmt], after: Step, loop: tuple[Step, Step] | None) -> Step:
    # The first step of `body`, which goes on to `after`; `loop` is where `continue` and `break` lead.
    for statement in reversed(body):
        match statement:
            case ast.Return(value=value):
                after = Return(value)
            case ast.Break() | ast.Continue():
                assert loop is not None
                after = loop[isinstance(statement, ast.Break)]
            case ast.If(test=test, body=yes, orelse=no):
                after = Test(test, _linked(yes, after, loop), _linked(no, after, loop))
            case ast.While() | ast.For():
                head = Loop(statement)
                head.body = _linked(statement.body, head, (head, after))
                head.exit = _linked(statement.orelse, after, loop)
                after = head if isinstance(statement, ast.While) else Do(statement, head)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.Assert():
                after = Do(statement, after)
            case ast.Pass() | ast.Raise():
                after = Do(statement, after)
            case _:
                raise NotFollowed(f"line {statement.lineno}: {type(statement).__name__} is not followed")
    return after


def assigned(tree: ast.AST) -> set[str]:
    """The names that a piece of code assigns."""
    names = (each for each in ast.walk(tree) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Store)}
