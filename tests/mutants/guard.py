"""A tree in which every loop counts its rounds and every number its bits: what would run on is refused."""

import ast
from typing import Any

ROUNDS = 100
"""Most rounds of one `while`: no drafted tree of the battery is so deep, and no bisection so long."""
BITS = 4096
"""Most bits of a whole number, and of one to the power of another."""


class Refused(Exception):
    """What no verifier may do, in words."""


class Limit:
    """Counts the rounds of one loop."""

    def __init__(self) -> None:
        self.left = ROUNDS

    def __call__(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Refused("does not stop")


def bounded(number: Any) -> Any:
    """The number, unless it is a whole one of too many bits."""
    if isinstance(number, int) and number.bit_length() > BITS:
        raise Refused("a number without bound")
    return number


def power(base: Any, exponent: Any) -> Any:
    """base ** exponent, unless that could have too many bits."""
    try:
        parts = (int(base.numerator), int(base.denominator))
        bits = max(map(int.bit_length, parts)) * abs(int(exponent))
    except (AttributeError, TypeError):  # neither a whole number nor a rational
        bits = 0
    if bits > BITS:
        raise Refused("a number without bound")
    return base**exponent


GUARDS = {"Limit": Limit, "bounded": bounded, "power": power}
"""The names that a guarded tree needs."""


def guarded(tree: ast.Module) -> ast.Module:
    """The tree with a guard in every loop and in all arithmetic; lines stay where they are."""
    return ast.fix_missing_locations(_Guard().visit(tree))


class _Guard(ast.NodeTransformer):
    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        name = f"limit_{node.lineno}_{node.col_offset}"
        before, count = (ast.parse(line).body[0] for line in (f"{name} = Limit()", f"{name}()"))
        node.body.insert(0, ast.copy_location(count, node.body[0]))
        return [ast.copy_location(before, node), node]

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Pow):
            return ast.copy_location(_call("power", node.left, node.right), node)
        return ast.copy_location(_call("bounded", node), node)


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
