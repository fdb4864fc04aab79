"""What a run knows: its node, the unknown rows and numbers, its coins, and what must hold of them."""

from typing import Any

from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.every_size.machine.flow import Env, Function, NotFollowed
from draftproof.proofs_check.every_size.machine.space import LAW, UNIT, Space
from draftproof.proofs_check.every_size.machine.values import LEAF, Node, Row, Token
from draftproof.theory import rows
from draftproof.theory.oracle import Oracle


class Refuted(Exception):
    """A coin outside [0, 1], a row that is no law, or another law than claimed."""


class Vacuous(Exception):
    """The run cannot occur: the drafted token has probability zero."""


class State:
    """The state of one run at a node `here` that has children if it is `inner`.

    `hypotheses` answers arrivals at loops and calls of functions whose claim is assumed; it gets the run
    itself.
    """

    def __init__(self, space: Space, oracle: Oracle, inner: bool, mode: str, hypotheses: Any):
        self.space, self.oracle, self.inner, self.mode = space, oracle, inner, mode
        self.hypotheses = hypotheses
        self.here = Node()
        self.examined = False  # whether a child of `here` was looked at
        self.child: Node | None = None
        self.drawn_from: Row | None = None  # the law of the child that was looked at
        self.start: Any = None
        self.function: Function | None = None
        self.env: Env = {}
        self.gained = space.number(0)  # mass that y got in loops
        self.reach = space.number(1)  # mass that goes on
        self.bounds: dict[int, tuple[Symbol, bool]] = {}  # numbers of at least 0; whether also at most 1

    # What is unknown.

    @property
    def target_row(self) -> Row:
        """The target's row at `here`."""
        return self.space.get("p", LAW)

    @property
    def proposal_row(self) -> Row:
        """q at `here`."""
        return self.space.get("q", LAW)

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

    # The node and its children.

    def draw_child(self) -> Node:
        """The child of `here` on a chain: its token is drawn from q, or the individual one."""
        law, individual = self.proposal_row, self.space.individual
        self.examined, self.drawn_from, self.hypotheses.averaged = True, law, True
        if individual is not None and not law[individual] > 0:
            raise Vacuous
        index = self.oracle.choose(law) if individual is None else individual
        self.child = Node(Token(index, whole=index > (individual or 0)))
        return self.child

    def use(self, node: Node) -> None:
        """What is below the node is asked for: its draft and coins are fresh, so once only."""
        if not isinstance(node, Node) or node.used:
            raise NotFollowed("a subtree is looked at twice")
        node.used = True

    def resolved(self, node: Any) -> Any:
        """The node, the chain's last one being `here` where that has no children."""
        return self.here if node is LEAF and not self.inner else node

    # What must hold.

    def accept(self, probability: Any) -> bool:
        """A coin, which is shown to be one."""
        if not isinstance(probability, Symbol | int) or isinstance(probability, bool):
            raise NotFollowed(f"a coin of {type(probability).__name__}")
        self.require_unit(probability, "a coin")
        return self.oracle.accept(self.space.number(1) * probability)

    def require_unit(self, number: Any, what: str) -> None:
        """Raises Refuted unless the number lies in [0, 1]."""
        _, unit = self.bounds.get(id(number), (None, False))
        if not unit and (number < 0 or number > 1):
            raise Refuted(f"{what} that can lie outside [0, 1]")

    def require_law(self, row: Row) -> None:
        """Raises Refuted unless the row can be drawn from."""
        if not row.positive and any(entry < 0 for entry in row):
            raise Refuted("a row with a negative entry is drawn from")
        if rows.total(row) != 1:
            raise Refuted("a row is drawn from whose mass is not 1")
