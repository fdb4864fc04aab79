"""The ways an exact verifier can go through a draft, each with the noise that leads there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from draftproof.gpu.exact.drafts import Drafted
from draftproof.gpu.verify import Verifier
from draftproof.simulators.enumerate import Enumerator
from draftproof.theory.draft import Node
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Row, has_mass, without
from draftproof.theory.table import Rows
from draftproof.theory.verifiers import named

Interval = tuple[fmpq | None, fmpq | None]
"""From a threshold up to a threshold; None where there is none and the coin may go to the end."""


@dataclass(frozen=True)
class Way:
    """The stop `node`, the row of Y there, and for every coin that was asked the interval it fell in."""

    node: Node
    row: Row
    coins: dict[Node, Interval]


class _Recorder(Enumerator):
    """Notes the interval of every uniform that a run asks for, and the tokens it chose."""

    def __init__(self) -> None:
        super().__init__(ONE)
        self.asked: list[Interval] = []
        self.yes: list[bool] = []
        self.chosen: list[int] = []

    def accept(self, probability: Any) -> bool:
        yes = super().accept(probability)
        self.yes.append(yes)
        self.asked.append((None, probability) if yes else (probability, None))
        return yes

    def choose(self, row: Row) -> int:
        self.chosen.append(super().choose(row))
        return self.chosen[-1]


def ways(verifier: Verifier, drafted: Drafted) -> Iterator[Way]:
    """Every way of positive probability; thresholds and rows are those of the exact verifier."""
    exact, target, oracle = named(verifier.name), drafted.instance.target, _Recorder()
    order = from_leaf_to_root(drafted.draft.root) if verifier.upwards else []
    seen: set[Node] = set()
    while True:
        oracle.asked, oracle.yes, oracle.chosen = [], [], []
        node, row = exact.verify(oracle, drafted.draft, target)
        if verifier.one_coin:
            way = _drawn(drafted.draft.root, oracle.chosen, target)
            if way.node not in seen:  # every token Y that was not drafted makes the same way
                seen.add(way.node)
                yield way
        elif verifier.upwards:
            yield Way(node, row, dict(zip(order, oracle.asked, strict=False)))
        else:
            yield Way(node, row, _walked(drafted.draft.root, oracle.asked, oracle.yes))
        if not oracle.next():
            return


def from_leaf_to_root(node: Node) -> list[Node]:
    """The nodes of a subtree, depth first, children in drawing order before their parent."""
    return [below for child in node.children for below in from_leaf_to_root(child)] + [node]


def _walked(node: Node, asked: list[Interval], accepted: list[bool]) -> dict[Node, Interval]:
    coins, siblings = {}, iter(node.children)
    for interval, yes in zip(asked, accepted, strict=True):
        child = next(siblings)
        coins[child] = interval
        if yes:
            siblings = iter(child.children)
    return coins


def _drawn(node: Node, chosen: list[int], target: Rows) -> Way:
    # y ~ p: the children lie one after the other on [0, 1), and what is beyond them is Y.
    coins: dict[Node, Interval] = {}
    for y in chosen:
        p, below, there = target[node.prefix], None, node.child(y)
        for token in dict.fromkeys(child.token for child in node.children):
            reach = p[token] if below is None else below + p[token]
            if token == y:
                break
            below = reach
        coins[node.children[0]] = (below, None if there is None else reach)
        if there is None:
            return Way(node, _off(p, node), coins)
        node = there
    return Way(node, target[node.prefix], coins)


def _off(p: Row, node: Node) -> Row:
    for child in node.children:
        p = without(p, child.token)
    assert has_mass(p)
    return p
