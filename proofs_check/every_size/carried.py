"""The target that a verifier leaves behind, as a claim has to know it: of its two variables a ratio R of the
target's mass through `here` to the proposal's, a rate a at which verification stops at or below, and the row
that the mass R - a finds, which enters `here` by a residual.
"""

from typing import Any

from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.every_size.flow import flow_of
from draftproof.proofs_check.every_size.values import Row
from draftproof.theory import rows
from draftproof.theory.verifiers.shared.leaf_shaping import shaped


class Modified:
    """After a block that owes tokens: R = P / Q of two variables, a = min(1, R), norm((R p - q)+) before the
    block's end.
    """

    def rates(self, run: Any, first: Any, second: Any) -> tuple[Any, Any]:
        """(R, a) of the claim's two variables, the second None for 1."""
        ratio = first if second is None else run.space.number(1) * first / second
        return ratio, run.operation(rows.minimum, [ratio, run.space.number(1)])

    def row(self, run: Any, first: Any, second: Any) -> Row:
        """The row at `here` that is left behind."""
        if not run.inner:
            return run.target_row
        ratio, _ = self.rates(run, first, second)
        want = run.operation(rows.scale, [ratio, run.target_row])
        return run.operation(rows.normalise, [run.operation(rows.excess, [want, run.proposal_row])])

    def keeps(self, ratio: Symbol, rate: Symbol) -> Symbol:
        """The a' of which a drafted token y is kept with mass min(a' p(y), q(y))."""
        return ratio

    def grows(self, run: Any, before: tuple, after: tuple, p: Symbol, q: Symbol) -> bool:
        """Whether R and a are at a drafted child, of entries p and q, what the row is left behind for."""
        return after[0] * q == before[0] * p

    def said(self, first: str, second: str | None) -> tuple[str, str]:
        """The rate at which verification stops, and that of keeping a token, in words."""
        ratio = f"{first} / {second}" if second else first
        return f"min(1, {ratio})", f"mass min({ratio} p(y), q(y)); {ratio} grows by p / q"


class Whole(Modified):
    """After a whole block: a = w of the claim's first variable, w' = min(1, w p / q), the second is the share
    k = w / R that is emitted by whole drafts. At the block's end the row is the later one of `shaped`, whose
    code is run.
    """

    def rates(self, run: Any, first: Any, second: Any) -> tuple[Any, Any]:
        return (first if second is None else run.space.number(1) * first / second), first

    def row(self, run: Any, first: Any, second: Any) -> Row:
        if run.inner or run.scenario.get("nothing left"):
            return run.target_row
        k = run.space.number(1) if second is None else second
        _, later = run.inlined(flow_of(shaped), {"k": k, "p": run.target_row, "q": run.leaf_row})
        run.require_law(later)
        return later

    def keeps(self, ratio: Symbol, rate: Symbol) -> Symbol:
        return rate

    def grows(self, run: Any, before: tuple, after: tuple, p: Symbol, q: Symbol) -> bool:
        same = super().grows(run, before, after, p, q)
        return same and bool(after[1] == run.operation(rows.share, [before[1] * p, q]))

    def said(self, first: str, second: str | None) -> tuple[str, str]:
        return first, f"mass min({first} p(y), q(y)); {first} is the probability of its prefix"
