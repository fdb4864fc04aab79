"""The exactly valid rule that `primal_bound` values, written out mass by mass."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from flint import fmpq

from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.transport.bounds import Output, Program, Seen, rational_masses

Rule: TypeAlias = dict[Seen, dict[Output, fmpq]]
"""What is seen -> output -> mass; the masses of one draft sum to its probability."""


def valid_rule(program: Program, f: Mapping[Seen, np.ndarray]) -> Rule:
    """The rule near the float plan f, exactly valid."""
    under: dict[Prefix, Rule] = {}  # what comes out at or below a prefix
    for seen, masses in rational_masses(program, f).items():
        for output, mass in zip(program.outputs[seen], masses, strict=True):
            if mass > ZERO:
                _gain(under.setdefault(output.end, {}), seen, output, mass)
    for v in reversed(program.reached()):
        root = not v
        below = program.children(v)
        got = [_whole(under.get(u, {})) for u, _ in below]
        kept = ONE if root else min(g / p for g, (_, p) in zip(got, below, strict=True))
        here = under.setdefault(v, {})
        freed: dict[Seen, fmpq] = {}
        for g, (u, p) in zip(got, below, strict=True):
            stay = min(g, kept * p) / g if g > ZERO else ONE
            for seen, masses in under.pop(u, {}).items():
                for output, mass in masses.items():
                    if stay > ZERO:
                        _gain(here, seen, output, mass * stay)
                    if stay < ONE:
                        freed[seen] = freed.get(seen, ZERO) + mass * (1 - stay)
        if root:
            _fill(here, freed, [(u, p - min(g, p)) for g, (u, p) in zip(got, below, strict=True)])
            return here
        for seen, mass in freed.items():
            _gain(here, seen, Output(v, len(v) - 1), mass)
    raise AssertionError("the root is always reached")


def expected_accepted(rule: Rule) -> fmpq:
    """E[tau] of a rule."""
    parts = (mass * output.accepted for masses in rule.values() for output, mass in masses.items())
    return sum(parts, ZERO)


def _fill(rule: Rule, freed: dict[Seen, fmpq], free: list[tuple[Prefix, fmpq]]) -> None:
    # Single tokens, which any draft may emit, take up what was set free, in the order of their ids.
    for seen, mass in freed.items():
        while mass > ZERO:
            u, left = free[-1]
            part = min(mass, left)
            if part > ZERO:
                _gain(rule, seen, Output(u, 0), part)
            mass -= part
            free[-1] = u, left - part
            if left == part:
                free.pop()


def _gain(rule: Rule, seen: Seen, output: Output, mass: fmpq) -> None:
    masses = rule.setdefault(seen, {})
    masses[output] = masses.get(output, ZERO) + mass


def _whole(rule: Rule) -> fmpq:
    return sum((mass for masses in rule.values() for mass in masses.values()), ZERO)
