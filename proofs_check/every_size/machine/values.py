"""What variables hold while a proof runs a verifier: rows over an unspecified vocabulary, abstract nodes.

**Rows.** A vocabulary of any size is seen from one token y: the others are put together in classes. All
operations on rows that `theory/rows.py` has are linear in a token's entries as long as the signs of the
compared entries stay the same, so that tokens of equal signs act like one token that has their entries'
sums. A row is therefore a tuple of a few Symbols: the entries of y, of a drafted token where there is one,
and of the classes. Nothing else can be done with it: no loop over the tokens, no order, no arithmetic.

**Nodes.** `here` is the node that a claim is about, of any depth in any draft. Its rows are free. A child
of it has a token; what is below the child is known by the induction hypothesis only.
"""

from dataclasses import dataclass
from typing import Any


class Row(tuple):
    """The entries of the tokens and classes of tokens. `positive`: none is below 0, by the way that it was
    made.
    """

    positive: bool = False


@dataclass(eq=False)
class Token:
    """A token, by its index in the rows; `whole` if it stands for a class of tokens."""

    index: int
    whole: bool = False


@dataclass(eq=False)
class Node:
    """A drafted node. `used`: its subtree was already entered; it may be entered once."""

    token: Token | None = None
    used: bool = False


@dataclass(frozen=True, eq=False)
class Prefix:
    """The context of a node: good for looking up rows only."""

    node: Any


@dataclass(frozen=True)
class Children:
    """The children of `here`: good for asking whether there are some."""


@dataclass(frozen=True)
class Named:
    """An object of the program that is the same wherever it is met: the oracle, the draft, the target."""

    name: str


PATH, EDGES, LEAF = Named("path"), Named("edges"), Named("leaf")
"""The drafted chain as a list of nodes; its pairs (node, child), from `here` down; its last node."""


@dataclass(frozen=True, eq=False)
class Below:
    """The result of a call on a child that stopped at or below it."""

    node: Node


@dataclass(frozen=True, eq=False)
class Plan:
    """A plan that gives a row's mass to the children: `taken` of it on average, `rest` is left.

    With a `form`, one of its `methods`, what each child gets: "shares", pairs (child, mass) of exclusive
    masses, none below 0 and together at most 1; or "judged", pairs (child, rate), the rates at which the
    children are kept, in the plan's order, where no earlier one was.
    """

    taken: Row
    rest: Row
    methods: tuple[str, ...]
    form: str = ""


class Unknown:
    """The value of a variable of which nothing is known: it cannot be read."""


UNKNOWN = Unknown()
