"""The linear program of one valid iteration.

A *world* is a target with the law of what the verifier may see there: `Seen`, the drafted prefixes
and whatever else tells drafts apart. An output of a draft is a drafted prefix and one extra token,
or a whole drafted path whose extra token the target draws. Variables

* f(D, o) >= 0, the mass with which what is seen, D, comes out as o, shared by the worlds it is seen in;
* m(u) >= 0 in each world, the mass of the outputs that go on beyond the prefix u; m(root) = 1;

and rows: sum_o f(D, o) = Pr(D); and for each u = vx in each world, what ends at u and goes on is due:

    sum of f(., o) over the outputs o that end at u  +  m(u)  =  m(v) p(x | v).

These say that for every word w of depth + 1 tokens sum_o f(., o) p(w | o) = p(w), with rows that
stay sparse: in each world every f is in one row of either kind. Maximise the worlds' E[tau] by
their weights. Outputs that a longer one dominates are left out: an extra token that was drafted
itself could have been accepted, and one drawn at a path's end costs nothing.

Tokens that may change places everywhere make orbits of prefixes; an average over such exchanges
is as good as any solution, so prefixes and drafts stand for their orbits (`symmetry`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows
from draftproof.theory.transport.symmetry import canonical

Seen: TypeAlias = tuple[frozenset[Prefix], object]
"""What a draft shows: its drafted prefixes, and anything else (None if nothing)."""

VARIABLES = 10**6
"""Most variables that a program is built with."""


@dataclass(frozen=True)
class World:
    """A target, the exact law of what is seen of the drafts in this world, and how much it counts."""

    target: Rows
    law: Mapping[Seen, fmpq]
    weight: fmpq = ONE


@dataclass(frozen=True)
class Output:
    """An output: the prefix at which it ends, and how many drafted tokens that accepts."""

    end: Prefix
    accepted: int


class Program:
    """The program of some worlds after one context."""

    def __init__(self, worlds: Sequence[World], context: Prefix = (), alike: Sequence[Sequence[int]] = ()):
        if not worlds or not worlds[0].law:
            raise BadInput("there is no draft to verify")
        self.worlds = worlds
        self.context = context
        self.alike = alike
        self.seen: dict[Seen, fmpq] = {}
        self.inner: set[Prefix] = set()
        for world in worlds:
            self.seen.update(world.law)
        for prefixes, _ in self.seen:
            self.inner.update(self.orbit(prefix[:-1]) for prefix in prefixes if len(prefix) > len(context))
        self.inner.add(context)
        self.where: dict[Seen, list[int]] = {seen: [] for seen in self.seen}
        for n, world in enumerate(worlds):
            for seen in world.law:
                self.where[seen].append(n)
        self.score = {seen: sum((worlds[n].weight for n in at), ZERO) for seen, at in self.where.items()}
        self.outputs = {seen: list(dict.fromkeys(self._outputs(seen))) for seen in self.seen}
        self.size = sum(map(len, self.outputs.values())) + len(worlds) * len(self.inner)
        if self.size > VARIABLES:
            raise BadInput(f"{self.size} variables; at most {VARIABLES} are solved for")

    def orbit(self, prefix: Prefix) -> Prefix:
        """The prefix that stands for all that tokens changing places make of this one."""
        return canonical(prefix, self.alike, len(self.context)) if self.alike else prefix

    def _outputs(self, seen: Seen) -> Iterator[Output]:
        prefixes, target = seen[0], self.worlds[self.where[seen][0]].target
        at = len(self.context)
        stack = [self.context]
        while stack:
            v = stack.pop()
            if (end := self.orbit(v)) not in self.inner:
                yield Output(end, len(v) - at)
                continue
            for x, mass in enumerate(target[v]):
                if mass > ZERO:
                    u = (*v, x)
                    if u in prefixes:
                        stack.append(u)
                    else:
                        yield Output(self.orbit(u), len(v) - at)

    def children(self, world: World, v: Prefix) -> list[tuple[Prefix, fmpq]]:
        """(u, p(u | v)) of every prefix, or orbit, u = vx that the target can emit after v."""
        below: dict[Prefix, fmpq] = {}
        for x, mass in enumerate(world.target[v]):
            if mass > ZERO:
                u = self.orbit((*v, x))
                below[u] = below.get(u, ZERO) + mass
        return list(below.items())

    def reached(self, world: World) -> list[Prefix]:
        """The inner prefixes that have positive probability in this world, shorter ones first."""
        out = [self.context]
        for v in out:
            out.extend(u for u, _ in self.children(world, v) if u in self.inner)
        return out
