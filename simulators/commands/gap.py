"""The command `gap`: one instance, and --rows."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from draftproof.simulators import screen
from draftproof.simulators.commands.options import NAMED, PATH, certificate_option, force_option, json_option
from draftproof.simulators.instances.files import draft_of, read
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.certificate import of_instance, of_optimum, of_stateless
from draftproof.simulators.laws.check import applies, must_apply, must_fit
from draftproof.simulators.laws.optimum import drafted
from draftproof.simulators.study import gap as study
from draftproof.simulators.study.designs import SIBLINGS
from draftproof.simulators.study.recorded import Accepted, Recorded, measured
from draftproof.simulators.user_code import named
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput, located
from draftproof.theory.numbers import text
from draftproof.theory.verifier import Verifier

STANDARD = "chain:3", "tree:2x2", "paths:2x2"
"""The drafts without an instance."""

FOUR = SIBLINGS.index(4)
NOTE = "No verifier exceeds a design's optimum or bound; of top-k and greedy drafts the verifier reaches it."

STATEFUL = (
    "A verifier that keeps state can exceed the stateless optimum in one iteration and still be lossless."
)


@click.command()
@click.argument("instance", required=False, type=PATH, metavar="[INSTANCE.json]")
@click.option("--verifier", multiple=True, metavar="NAME", help=f"Only this: {NAMED}; may be repeated.")
@click.option(
    "--rows", type=PATH, metavar="FILE.npz", help="Recorded rows: acceptance by draft and verifier."
)
@click.option("--draft", metavar="JSON", help="Of the toy: one draft, as in an instance file.")
@click.option("--count", type=click.IntRange(1), help="Of --rows the number of rows [default: all].")
@certificate_option
@force_option
@json_option
def gap(
    instance: Path | None,
    verifier: tuple[str, ...],
    rows: Path | None,
    draft: str | None,
    count: int | None,
    certificate: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Show how far each verifier is from each certified optimum.

    With an instance: E[tau] of every verifier made for its draft, and its share of the best that lossless
    verifiers without state can do (stateless) and of the best that any coupling of draft and target blocks
    can do (full information). Without an instance: a toy on three standard drafts or on one --draft
    (means over many: `draftproof sweep`). With --rows: what a node of your own models accepts, by draft and
    verifier, for 1 to 16 siblings; the file has arrays `target` and `proposal` [n, V] of probabilities and
    perhaps `sequence` [n] (`draftproof gpu record` writes one). A certificate is of both optima.
    """
    if certificate is not None and instance is None:
        raise BadInput("--certificate goes with an instance")
    if rows is not None:
        if instance is not None or draft or verifier or force:
            raise BadInput("--rows goes without an instance, --draft, --verifier and --force")
        return _rows(rows, count, as_json)
    if count is not None:
        raise BadInput("--count goes with --rows")
    verifiers = [named(name) for name in dict.fromkeys(verifier)]
    if instance is not None and draft is not None:
        raise BadInput("--draft goes without an instance")
    if instance is not None:
        return _instance(instance, verifiers, certificate, force, as_json)
    if force:
        raise BadInput("--force goes with an instance")
    return _toys([draft_of(each) for each in (STANDARD if draft is None else [draft])], verifiers, as_json)


def _instance(
    path: Path, verifiers: Sequence[Verifier], certificate: Path | None, force: bool, as_json: bool
) -> int:
    given = read(path)
    if not force:
        for verifier in verifiers:
            must_apply(verifier, given)
    with screen.console(stderr=True).status("") as status, located(path):
        found = study.measure(given, verifiers or None, lambda name: status.update(f"{name} on {path}"))
    if certificate is not None:
        full = of_optimum(given, drafted(given), found.full)
        certificate.write_text(of_instance(given) + full + of_stateless(given, found.stateless))
    if as_json:
        click.echo(json.dumps(found.to_dict()))
    else:
        screen.console().print(_table(found))
        for name, why in found.invalid.items():
            click.echo(f"{name}: {why}")
    return 0


def _toys(drafts: Sequence[Scheme], verifiers: Sequence[Verifier], as_json: bool) -> int:
    for verifier in verifiers:
        must_fit(verifier, drafts)
    found = []
    for draft in drafts:
        toy = scenario("toy", draft, 3)
        chosen = [each for each in verifiers if applies(each, toy)]
        if chosen or not verifiers:
            found.append(study.measure(toy, chosen or None))
    if as_json:
        click.echo(
            json.dumps({"toys": [{"instance": each.instance.name} | each.to_dict() for each in found]})
        )
    else:
        screen.console().print(*map(_table, found))
    return 0


def _rows(path: Path, count: int | None, as_json: bool) -> int:
    recorded = Recorded(path)
    chosen = recorded.chosen(count)
    n, sequences = len(chosen), len(set(recorded.sequence[chosen].tolist()))
    with screen.progress("rows") as bar:
        task = bar.add_task("measuring", total=n)
        found = measured(recorded, count, lambda: bar.advance(task))
    if as_json:
        acceptance = [
            {"draft": each.column.design, "verifier": each.column.verifier, "kind": each.column.kind}
            | {"mean": each.mean, "half_width": each.half_width}
            for each in found
        ]
        about = {"rows": n, "vocab": recorded.shape[1], "sequences": sequences, "siblings": list(SIBLINGS)}
        click.echo(json.dumps({**about, "acceptance": acceptance}))
        return 0
    screen.console().print(
        _accepted(found, f"{n:,} rows of {recorded.shape[1]:,} tokens, {sequences:,} sequences")
    )
    rules = [each for each in found if each.column.attained]
    best = max(rules, key=lambda each: each.mean[FOUR])
    click.echo(f"best at K = 4: {best.column.design}, {best.column.verifier}, {best.mean[FOUR]:.4f}")
    return 0


def _accepted(found: list[Accepted], title: str) -> Table:
    # A line for each design and verifier, a column for each number of siblings.
    counts = [f"K = {k}" for k in SIBLINGS]
    made = screen.table(title, "ll" + "r" * len(counts) + "r", "draft", "verifier", *counts, "+-")
    for each in found:
        widest = max((half for half in each.half_width if half is not None), default=None)
        style = "" if each.column.attained else "dim"
        cells = [f"{mean:.4f}" for mean in each.mean]
        made.add_row(
            each.column.design, each.column.verifier, *cells, f"{widest:.4f}" if widest else "", style=style
        )
    made.caption = f"Acceptance of a node; +- is the widest 95 % interval's half. {NOTE}"
    return made


def _table(gap: study.Gap) -> Table:
    # The optima, then every verifier, the largest E[tau] first.
    title = escape(gap.instance.name or "one instance")
    table = screen.table(title, "lrrrrl", "verifier", r"E\[tau]", "", "stateless", "full inf.", "")
    full, best = gap.full.value, gap.stateless
    exact, decimal = text(full), f"{float(full):.6f}"
    table.add_row("full information", exact, decimal, "", "100.00 %", "optimum, certified exactly")
    one = best.lower == best.upper
    spelled, kind = (text(best.upper), " exactly") if one else (f"+- {best.error:.1g}", "")
    share = _percent(best.value / float(full) if full else 1.0)
    table.add_row("stateless", spelled, f"{best.value:.6f}", "100.00 %", share, f"optimum, certified{kind}")
    table.add_section()
    for name, mean, *shares, note in (row.values() for row in gap.rows()):
        exact, style = mean if len(mean) <= 24 else "", "bold" if note == study.ABOVE else ""
        remark = "no law" if name in gap.invalid else note
        table.add_row(name, exact, f"{float(mean):.6f}", *map(_percent, shares), remark, style=style)
        table.caption = STATEFUL if note == study.STATE else table.caption
    return table


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
