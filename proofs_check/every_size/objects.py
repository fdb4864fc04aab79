"""What a run's objects answer: items, attributes, methods, and functions that are called on them."""

from itertools import pairwise
from typing import Any

from draftproof.proofs_check.every_size.contracts import contract_of, planned
from draftproof.proofs_check.every_size.flow import NotFollowed, flow_of
from draftproof.proofs_check.every_size.operations import OPERATIONS, Operations
from draftproof.proofs_check.every_size.space import UNIT
from draftproof.proofs_check.every_size.values import (
    Backwards,
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
    Stack,
    TargetRow,
    Token,
    Without,
    Zipped,
)
from draftproof.theory import rows


class Objects(Operations):
    """The draft, its nodes, the target, the oracle and lists along the path, as far as code can ask them."""

    def item(self, value: Any, index: Any) -> Any:
        """value[index]: a row's entry, the target's row at a node, a node of the chain, an item of a list."""
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
            case list(), int() if -len(value) <= index < (0 if isinstance(value, Stack) else len(value)):
                return value[index]
        raise NotFollowed(f"an item of {type(value).__name__}")

    def attribute(self, value: Any, attribute: str) -> Any:
        """value.attribute: of a node, of the draft, or of a plan."""
        if isinstance(value, Named) and value.name == "draft" and attribute != "root":
            self.hypotheses.asked_draft = True
        match value, attribute:
            case ((Node() | LeafOf()), "prefix"):
                return Prefix(value)
            case Node(), "proposal" if value is self.here:
                return self.proposal_row if self.inner else None
            case LeafOf(), "proposal" if self.resolved(value) is self.here:
                return self.leaf_row
            case Node(), "children" if value is self.here:
                return Children()
            case Node(token=Token() as token), "token":
                return token
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
        """value.method(arguments): a coin or a draw of the oracle, a list, a plan, a child by its token."""
        match value, method, arguments:
            case Named(name="oracle"), "accept", [probability]:
                return self.accept(probability)
            case Named(name="oracle"), "choose", [Row() | Without() as row]:
                row = self.worked_out(row)
                self.require_law(row)
                index = self.oracle.choose(row)
                return Token(index, whole=index > (self.space.individual or 0))
            case list(), "append", [item]:
                return value.append(item)
            case Stack(), "pop", [] if value:
                return value.pop()
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
        """function(arguments): an operation on rows, one that has a contract, or a function to follow."""
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

    def sequence(self, function: Any, arguments: list[Any]) -> Any:
        """What `pairwise`, `reversed` and `zip` make of the chain and of lists along it."""
        match function, arguments:
            case _, [Chain(inner=False)] if function is pairwise:
                return Edges()
            case _, [Chain() | list()] if function is reversed:
                return Backwards(arguments[0])
            case _, [*columns] if function is zip:
                return Zipped(tuple(columns))
        raise NotFollowed(f"{function.__name__} of {', '.join(type(each).__name__ for each in arguments)}")
