"""Exact bounds on the value of a `program` from a float solution of it: duals above, a plan below."""

from collections.abc import Mapping, Sequence
from math import floor

import numpy as np
from flint import fmpq

from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.transport.program import Program, Seen

GRID = 2**48
"""Float solutions are read as multiples of 1/GRID."""


def dual_bound(program: Program, mu: Sequence[Mapping[Prefix, float]]) -> fmpq:
    """The value of exactly feasible duals near `mu[world][prefix]`: no valid rule exceeds it.

    mu is raised to an exact supermartingale, mu(u) >= sum_x p(x | u) mu(ux), and each draft pays
    lambda(D) = max over its outputs of accepted - sum over worlds of mu(end):

        E[tau]  <=  sum_D Pr(D) lambda(D)  +  sum over worlds of sum_x p(x) mu(x)

    (with `accepted` and E[tau] weighted by the worlds' weights).
    """
    exact: list[dict[Prefix, fmpq]] = []
    out = ZERO
    for world, prices in zip(program.worlds, mu, strict=True):
        row = {u: fmpq(round(price * GRID), GRID) for u, price in prices.items()}
        for v in reversed(program.reached(world)):
            ahead = sum((mass * row.get(u, ZERO) for u, mass in program.children(world, v)), ZERO)
            if v == program.context:
                out += ahead
            else:
                row[v] = max(row.get(v, ahead), ahead)
        exact.append(row)
    for seen, mass in program.seen.items():
        out += mass * max(
            program.score[seen] * output.accepted
            - sum((exact[n].get(output.end, ZERO) for n in program.where[seen]), ZERO)
            for output in program.outputs[seen]
        )
    return out


def primal_bound(program: Program, f: Mapping[Seen, np.ndarray]) -> fmpq:
    """The value of an exactly valid rule near the float plan f of a single world.

    Each draft's masses are read as rationals that sum to Pr(D). Then, from the leaves up, where the
    parts below a prefix u are not in the target's proportion, each is scaled down to it and the
    mass set free stops at u, one token earlier; at the root it goes to single tokens that still
    have room, which every draft may emit. Values on the way are rounded down to the grid.
    """
    (world,) = program.worlds
    at = len(program.context)
    mass: dict[Prefix, fmpq] = {}
    worth: dict[Prefix, fmpq] = {}
    for seen, parts in read(program, f).items():
        for output, part in zip(program.outputs[seen], parts, strict=True):
            mass[output.end] = mass.get(output.end, ZERO) + part
            worth[output.end] = worth.get(output.end, ZERO) + part * output.accepted
    for v in reversed(program.reached(world)):
        below = program.children(world, v)
        got = [mass.get(u, ZERO) for u, _ in below]
        kept = ONE if v == program.context else min(g / p for g, (_, p) in zip(got, below, strict=True))
        value, freed = ZERO, ZERO
        for g, (u, p) in zip(got, below, strict=True):
            if g > ZERO:
                stay = min(g, kept * p)
                value += worth.get(u, ZERO) * stay / g
                freed += g - stay
        value = fmpq(int((value * GRID).floor()), GRID)
        if v == program.context:
            return value * world.weight
        mass[v] = mass.get(v, ZERO) + sum(got, ZERO)
        worth[v] = worth.get(v, ZERO) + value + freed * (len(v) - 1 - at)
    raise AssertionError("the root is always reached")


def read(program: Program, f: Mapping[Seen, np.ndarray]) -> dict[Seen, list[fmpq]]:
    """Each draft's float masses as rationals >= 0 that sum to its probability, by output."""
    exact: dict[Seen, list[fmpq]] = {}
    for seen, whole in program.seen.items():
        parts = [fmpq(max(floor(x * GRID), 0), GRID) for x in f[seen].tolist()]
        rest = whole - sum(parts, ZERO)
        best = max(range(len(parts)), key=parts.__getitem__)
        if parts[best] + rest < ZERO:
            parts, rest = [ZERO] * len(parts), whole
        parts[best] += rest
        exact[seen] = parts
    return exact
