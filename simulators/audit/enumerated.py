"""A function that an audit takes, as a rule: enumerated on each draft, then drawn from its own law."""

from time import monotonic
from typing import Any

from flint import fmpq

from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.judge.exact import INSTANCE_SECONDS, emit
from draftproof.simulators.audit.sandbox import Fault, sandboxed
from draftproof.simulators.audit.targets.base import DraftVerifier, Program
from draftproof.simulators.laws.enumerate import Invalid
from draftproof.theory.draft import Draft, Node
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop

NEGLIGIBLE = fmpq(1, 2**20)
"""Coins at the ends of [0, 1) may fail: a function that raises with at most this probability has a law, known
within this probability.
"""


class EnumeratedRule:
    """`verify` and `rounding` of a `Verifier` that emits what the function emits.

    The law of its words on a draft is exact for its own arithmetic, so it differs from that of the same rule
    in real numbers by rounding. Where the function seldom raises, the law is that of the other runs, and
    `rounding` is wider by the probability of these. Raises BadInput for a function that cannot be enumerated,
    and Invalid for one that raises.
    """

    def __init__(self, target: DraftVerifier):
        self.target = target
        self._repeats = False
        self._last: tuple[Any, Any, dict[Prefix, fmpq]] = (None, None, {})
        # A target, and the largest probability of runs that raise:
        self._lost: tuple[Any, fmpq] = None, ZERO

    def verify(self, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
        if self._last[0] is not draft or self._last[1] is not target:
            self._last = draft, target, self.law(draft, target)
        words = list(self._last[2].items())
        word = words[oracle.choose(tuple(mass for _, mass in words))][0]
        row = tuple(ONE if x == word[-1] else ZERO for x in range(target.vocab))  # type: ignore[attr-defined]
        return Node((*draft.root.prefix, *word[:-1]), None), row

    def rounding(self, instance: Instance, iterations: int) -> fmpq:
        """The total variation that rounding, and the runs that raised on the instance, can cause over so many
        iterations.
        """
        lost = self._lost[1] if self._lost[0] is instance.target else ZERO
        return self.target.bound(instance, iterations) + lost * iterations

    def law(self, draft: Draft, target: Rows) -> dict[Prefix, fmpq]:
        """The probability of every word that it emits on a draft, if it does not raise."""
        given = self.target.prepare(target, draft)
        with sandboxed(namespace=self.target.namespace) as sandbox:
            programs = [Program(ONE, self.target.run_on(sandbox, given), (draft,))]
            try:
                deadline = monotonic() + INSTANCE_SECONDS
                runs, faults, lost = emit(programs, sandbox, deadline, self._repeats, each=True)
                self._repeats = True
            except NotEnumerable as error:
                raise BadInput(
                    f"{self.target.name}: {error}; `draftproof audit` tests it on samples"
                ) from None
            except Fault as fault:  # it hangs
                raise Invalid(f"{self.target.name} {fault}") from None
        if lost > NEGLIGIBLE or not runs:
            kind, what = next(iter(faults.items()))
            raise Invalid(f"{self.target.name} {kind}: {what}, with probability {float(lost):.3g}")
        before = self._lost[1] if self._lost[0] is target else ZERO
        self._lost = target, max(before, lost)
        return dict(Law((word, mass / (1 - lost)) for mass, (word, _) in runs))
