"""Induction hypotheses: what executing the verifier from a loop head, or a call, does in expectation.

The expectation is over drafts and coins. The claim of a place in the code is about a node `here`; of a
function also about a rate a, the number that it is given, which is 1 where it is given none:

    verification stops at or below `here` with probability a; then the next token is y with the target's
    probability, and the target's law follows.

A claim is proved by running the code once from its place, with every variable that the loop changes
unknown, and taking the claims for granted at the places where the run arrives next: one level deeper, or in a
loop further inside.
"""

from dataclasses import dataclass
from types import FunctionType
from typing import Any

from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.every_size.machine.flow import Env, Function, Loop, NotFollowed
from draftproof.proofs_check.every_size.machine.run import Run
from draftproof.proofs_check.every_size.machine.space import UNIT
from draftproof.proofs_check.every_size.machine.values import EDGES, UNKNOWN, Named, Node

FIXED = (Named, int, type(None), FunctionType)
"""What a variable can hold that means the same in every run."""


@dataclass(eq=False)
class Claim:
    """The claim of a place: a loop's head or the start of a function.

    `env` holds the variables as they were when the place was first reached, of which some are `changing`.
    """

    place: Loop | Function
    function: Function
    env: Env
    changing: frozenset[str]

    def __str__(self) -> str:
        where = f"{self.function}, {self.place}" if isinstance(self.place, Loop) else str(self.function)
        return f"{where}: stops with probability {self.rate or 1}, then follows the target's row"

    @property
    def rate(self) -> str | None:
        """The name of the rate, None for 1."""
        if isinstance(self.place, Loop):
            return None
        numbers = [name for name, value in self.env.items() if isinstance(value, Symbol)]
        if len(numbers) > 1:
            raise NotFollowed(f"{self.place} is given several numbers: which is the rate is not known")
        return numbers[0] if numbers else None

    def start(self, run: Run, name: str) -> Any:
        """What a variable holds where a run starts at the place: its rate is unknown."""
        old = self.env[name]
        if isinstance(old, Node):
            return run.here
        if self._is_fixed(name):
            return old
        return run.number_or_row(f"number {name}", UNIT) if name == self.rate else UNKNOWN

    def _is_fixed(self, name: str) -> bool:
        # Whether the variable means the same wherever the place is reached.
        old = self.env[name]
        return isinstance(old, FIXED) and (name not in self.changing or old is EDGES)

    def rate_in(self, run: Run, env: Env) -> Any:
        """The rate among a run's variables at the place: the value itself, of which bounds are known."""
        value = run.space.number(1) if self.rate is None else env[self.rate]
        if not isinstance(value, Symbol | int):
            raise NotFollowed(f"{self.rate} is not a number")
        return value

    def check(self, env: Env, node: Any) -> None:
        """Raises NotFollowed unless a run arrives at the place for the node, with nothing else changed."""
        for name, old in self.env.items():
            value = env.get(name, UNKNOWN)
            if isinstance(old, Node) and value is not node:
                raise NotFollowed(f"{name} is not the node of the loop")
            if self._is_fixed(name) and (type(value) is not type(old) or value != old):
                raise NotFollowed(f"{name} is not the same wherever the place is reached")
