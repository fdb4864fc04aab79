"""How gaps look: tables for people, documents for scripts."""

from collections.abc import Sequence
from typing import Any

from flint import fmpq
from rich.markup import escape
from rich.table import Table

from draftproof.simulators import screen
from draftproof.simulators.gap.measure import ABOVE, STATE, STATEFUL, Gap
from draftproof.simulators.gap.summary import Summary
from draftproof.simulators.screen import shown
from draftproof.theory.numbers import text
from draftproof.theory.transport.bounds import Optimum


def one(gap: Gap) -> Table:
    """An instance's table: the optima, then every verifier, the largest E[tau] first."""
    title = escape(gap.instance.name or "one instance")
    table = screen.table(title, "lrrrrl", "verifier", r"E\[tau]", "", "stateless", "full inf.", "")
    full, best = gap.full.value, gap.stateless
    table.add_row(
        "full information", text(full), f"{float(full):.6f}", "", "100.00 %", "optimum, certified exactly"
    )
    value = _exactly(best)
    spelled = f"+- {best.error:.1g}" if value is None else text(value)
    share = _percent(best.value / float(full) if full else 1.0)
    table.add_row("stateless", spelled, f"{best.value:.6f}", "100.00 %", share, "optimum, certified")
    table.add_section()
    for name in sorted(gap.expected_accepted, key=lambda name: -gap.expected_accepted[name]):
        mean, note = gap.expected_accepted[name], gap.note(name)
        exact = text(mean) if len(text(mean)) <= 24 else ""
        shares = map(_percent, gap.shares(name))
        table.add_row(
            name,
            exact,
            f"{float(mean):.6f}",
            *shares,
            note,
            style="bold" if note == ABOVE else "",
        )
    return _told(table, [gap.note(name) for name in gap.expected_accepted])


def many(title: str, found: Sequence[Summary]) -> Table:
    """The means over an ensemble; `least` is the smallest share of the stateless optimum met."""
    headings = "verifier", r"E\[tau]", "stateless", "least", "at 100 %", "full inf.", ""
    table = screen.table(title, "lrrrrrl", *headings)
    for row in found:
        table.add_row(
            row.name,
            f"{row.mean:.4f}",
            _percent(row.stateless),
            _percent(row.least),
            f"{row.reached:,} of {row.instances:,}",
            _percent(row.full),
            row.note,
        )
    return _told(table, [row.note for row in found])


def document(gap: Gap) -> dict[str, Any]:
    """The answer of `gap --json`: exact values are strings, a solver's number has its error beside it."""
    best, exact = gap.stateless, _exactly(gap.stateless)
    valid = (
        {"stateless": best.value, "stateless_error": best.error}
        if exact is None
        else {"stateless": text(exact)}
    )
    return {
        "expected_accepted": {name: text(mean) for name, mean in gap.expected_accepted.items()},
        "optimum": {"full_information": text(gap.full.value), **valid},
        "certificates": {
            "full_information": {"primal": text(gap.full.primal), "dual": text(gap.full.value)},
            "stateless": {
                "lower": None if best.lower is None else text(best.lower),
                "upper": text(best.upper),
            },
            "above_stateless": [name for name in gap.expected_accepted if gap.note(name) == ABOVE],
        },
    }


def summary(gap: Gap) -> str:
    """The optima of an instance in one line."""
    return f"stateless {gap.stateless.value:.6f}, full information {shown(gap.full.value)}"


def _exactly(optimum: Optimum) -> fmpq | None:
    return optimum.upper if optimum.lower == optimum.upper else None


def _told(table: Table, notes: list[str]) -> Table:
    if STATE in notes:
        table.caption = STATEFUL
    return table


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
