"""What a run's values answer: the operations of theory/rows.py, run as they stand on classes of tokens, other
arithmetic, items, attributes, methods, and functions that are called.
"""

import ast
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.every_size.contracts import plan_of
from draftproof.proofs_check.every_size.machine.flow import NotFollowed, flow_of
from draftproof.proofs_check.every_size.machine.space import UNIT
from draftproof.proofs_check.every_size.machine.state import State
from draftproof.proofs_check.every_size.machine.values import (
    EDGES,
    LEAF,
    PATH,
    Children,
    Named,
    Node,
    Plan,
    Prefix,
    Row,
    Token,
)
from draftproof.theory import rows

NUMBER, ROW, TOKEN = Symbol, Row, Token
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


class Objects(State):
    """A run's numbers and rows, what is known of their signs, the draft, its nodes, the target, the oracle
    and lists along the path, as far as code can ask them.
    """

    def arithmetic(self, op: ast.operator, a: Any, b: Any) -> Any:
        """a op b for numbers."""
        if not all(isinstance(each, Symbol | int) for each in (a, b)) or type(op) not in ARITHMETIC:
            raise NotFollowed(f"{type(op).__name__} of {type(a).__name__} and {type(b).__name__}")
        if isinstance(op, ast.Div):
            a = self.space.number(1) * a
        if isinstance(op, ast.Pow) and not isinstance(b, int):
            raise NotFollowed("a power that is not a whole number")
        return ARITHMETIC[type(op)](a, b)

    def comparison(self, op: ast.cmpop, a: Any, b: Any) -> bool:
        """`is None` or `is not None`: a verifier compares no numbers, theory/rows.py does."""
        if not isinstance(op, ast.Is | ast.IsNot) or b is not None:
            raise NotFollowed(f"a comparison of {type(a).__name__} and {type(b).__name__}")
        return (a is None) == isinstance(op, ast.Is)

    def operation(self, function: Callable, arguments: list[Any]) -> Any:
        """A function of theory/rows.py, run as it stands on the entries of the tokens and classes."""
        kinds = OPERATIONS[function]
        arguments = [self.space.number(each) if type(each) is int else each for each in arguments]
        if len(arguments) != len(kinds) or not all(map(isinstance, arguments, kinds)):
            raise NotFollowed(
                f"{function.__name__} of {', '.join(type(each).__name__ for each in arguments)}"
            )
        if function in (rows.excess, rows.meet):
            result = self.compared_rows(function, *arguments)
        else:
            result = function(*[each.index if isinstance(each, Token) else each for each in arguments])
        if isinstance(result, tuple):
            result = Row(result)
        self.note_sign(function, arguments, result)
        return result

    def positive(self, value: Any) -> bool:
        """Whether a number or the entries of a row are known not to be below 0."""
        if isinstance(value, Row):
            return value.positive
        known = not isinstance(value, Symbol) or id(value) in self.bounds
        return known or (value.top.is_constant() and value.bottom.is_constant() and value >= 0)

    def note_sign(self, function: Callable, arguments: list[Any], result: Any) -> None:
        """Notes what is known of a result's sign by the way that it was made."""
        if isinstance(result, Row):
            result.positive = function in (rows.excess, rows.point) or all(map(self.positive, arguments))
        elif isinstance(result, Symbol):
            if function is rows.share and self.positive(arguments[0]):
                self.bounds[id(result)] = (result, True)
            elif function is rows.positive or all(map(self.positive, arguments)):
                self.bounds[id(result)] = (result, False)

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

    # What objects can be asked.

    def item(self, value: Any, index: Any) -> Any:
        """value[index]: a row's entry, the target's row at `here`, the last node of the chain."""
        match value, index:
            case Row(), Token():
                if index.whole and index is not (self.child and self.child.token):
                    raise NotFollowed("the entry of a token that was not drafted")
                entry = value[index.index]
                if value.positive:
                    self.bounds.setdefault(id(entry), (entry, False))
                return entry
            case Named(name="target"), Prefix(node=node) if self.resolved(node) is self.here:
                return self.target_row
            case Named(name="path"), -1:
                return LEAF
        raise NotFollowed(f"an item of {type(value).__name__}")

    def attribute(self, value: Any, attribute: str) -> Any:
        """value.attribute: of a node, of the draft, or of a plan."""
        match value, attribute:
            case ((Node() | Named(name="leaf")), "prefix"):
                return Prefix(value)
            case Node(), "proposal" if value is self.here:
                return self.proposal_row if self.inner else None
            case Node(), "children" if value is self.here:
                return Children()
            case Node(token=Token() as token), "token":
                return token
            case Plan(rest=rest, form=""), "left":
                return rest
            case Named(name="draft"), "root" if self.hypotheses.at_root:
                return self.here
            case Named(name="draft"), "path" if self.mode == "chain":
                return PATH
        raise NotFollowed(f"{type(value).__name__}.{attribute}")

    def method(self, value: Any, method: str, arguments: list[Any]) -> Any:
        """value.method(arguments): a coin or a draw of the oracle, a list, a plan, a child by its token."""
        match value, method, arguments:
            case Named(name="oracle"), "accept", [probability]:
                return self.accept(probability)
            case Named(name="oracle"), "choose", [Row() as row]:
                self.require_law(row)
                index = self.oracle.choose(row)
                return Token(index, whole=index > (self.space.individual or 0))
            case Plan(form="", methods=methods), _, [node] if node is self.here and method in methods:
                return replace(value, form=method)
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
        """function(arguments): an operation on rows, one that has a contract, or a function to follow."""
        if options:
            raise NotFollowed("arguments by name")
        if function is pairwise:
            if len(arguments) != 1 or arguments[0] is not PATH:
                raise NotFollowed(f"pairwise of {', '.join(type(each).__name__ for each in arguments)}")
            return EDGES
        if function is rows.one and len(arguments) == 1 and isinstance(arguments[0], Row):
            return self.space.number(1)
        if function in OPERATIONS:
            return self.operation(function, arguments)
        if (plan := plan_of(self, function, arguments)) is not None:
            return plan
        if isinstance(function, type) or not callable(function):
            raise NotFollowed(f"a call of {function!r}")
        return self.hypotheses.call(self, flow_of(function), arguments)
