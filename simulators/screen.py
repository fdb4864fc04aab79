"""Terminal output: tables, numbers, witnesses and progress bars."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from flint import fmpq
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.highlighter import RegexHighlighter
from rich.padding import Padding
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from draftproof.simulators.instances.files import document
from draftproof.simulators.laws.check import Tally
from draftproof.simulators.laws.verdict import Verdict
from draftproof.simulators.laws.verdicts.against import AgainstVerdict
from draftproof.simulators.laws.verdicts.batches import BatchVerdict
from draftproof.theory.errors import printable
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import shown, text
from draftproof.theory.selection.batch import Batch

VERDICTS = {"declared", "found", "verdict", "verdicts", "own law", "budget", ""}
"""Headings of columns of verdicts, and of notes."""

BRIEF = {"tree with replacement": "tree+", "tree without replacement": "tree"}

WIDTH = 110  # columns when the output is not a terminal


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # `entry.enter` ends quietly; rich would exit with 1, which is a verdict


def console(stderr: bool = False) -> Console:
    """A console on standard output or error; wide enough for tables when it is not a terminal."""
    made = _Console(stderr=stderr, highlight=False)
    made.width = made.width if made.is_terminal else WIDTH
    return made


class _Counted(ProgressColumn):
    def __init__(self, unit: str):
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        done, all_ = task.fields.get("done", task.completed), task.fields.get("all", task.total)
        return Text(f"{int(done):,} of {int(all_ or 0):,} {self.unit}")


def progress(unit: str = "instances", shown: bool | None = None) -> Progress:
    """A progress bar on a terminal's standard error, or if it is `shown`; a task's fields `done` and `all`
    replace its counts.
    """
    made = console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        _Counted(unit),
        TimeElapsedColumn(),
        console=made,
        transient=shown is None,
        disable=not (made.is_terminal if shown is None else shown),
    )


class _Verdicts(RegexHighlighter):
    highlights = [  # noqa: RUF012
        r"(?P<green>(?<![\w-])(lossless|proved|as (declared|recorded)|no bias found|nothing found)(?![\w-]))",
        r"(?P<yellow>\b(undecided|not decided)\b)",
        r"(?P<red>\b(([Nn]ot|NOT) (lossless|every)|lossy|refuted|rejected|exceeded)\b)",
    ]


VERDICT = _Verdicts()
"""Colours the words for verdicts; a terminal without colours and NO_COLOR take them away."""


def say(lines: object) -> None:
    """Prints text; a terminal colours verdicts, and folds lines without an instance between words."""
    made = console()
    for line in str(lines).split("\n"):
        made.print(VERDICT(Text(line)), soft_wrap="{" in line or not made.is_terminal)


def answer(document: Any, lines: object, as_json: bool) -> None:
    """Prints one JSON document, or the lines."""
    if as_json:
        print(json.dumps(document))
    else:
        say(lines)


class _Table(Table):
    """A table whose cells are shown as they are: a name may look like markup. On a narrow terminal cells are
    folded between words; where that is not enough, each row is a few lines of text.
    """

    def add_row(self, *cells: Any, **options: Any) -> None:
        cells += ("",) * (len(self.columns) - len(cells))
        shown = (Text("\n".join(map(printable, str(cell).split("\n")))) for cell in cells)
        both = zip(shown, self.columns, strict=True)
        super().add_row(*(VERDICT(x) if str(c.header) in VERDICTS else x for x, c in both), **options)

    def _parts(self, cell: Any, column: Column) -> list[str]:
        # What is not broken: a number, or else a word.
        number = column.justify == "right" and str(cell) != Text.from_markup(str(column.header)).plain
        return str(cell).split("\n") if number else ["", *str(cell).split()]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        headings = [Text.from_markup(str(column.header)) for column in self.columns]
        columns = [[heading, *column.cells] for heading, column in zip(headings, self.columns, strict=True)]
        most = [max(map(cell_len, map(str, each))) for each in columns]
        least = [
            max(cell_len(part) for x in each for part in self._parts(x, column))
            for each, column in zip(columns, self.columns, strict=True)
        ]
        room = options.max_width - 3 * len(columns) - 1  # what borders leave
        if sum(least) > room:
            yield Text(str(self.title or ""), style="italic")
            for first, *rest in zip(*(each[1:] for each in columns), strict=True):
                yield first
                named = [(h, x) for h, x in zip(headings[1:], rest, strict=True) if str(x)]
                told = (Text(": ").join([h, x]) if str(h) else x for h, x in named)
                yield Padding(Text("; ").join(told), (0, 0, 0, 2), expand=False)
            return
        spare = room - sum(least)
        for column, low, high in zip(self.columns, least, most, strict=True):
            column.width = min(high, low + spare)
            spare -= column.width - low
        yield from super().__rich_console__(console, options)


def table(title: str, sides: str, *headings: str) -> Table:
    """An empty table; `sides` has one letter per column, l or r, for its alignment.

    On a narrow terminal text is folded between words, numbers never.
    """
    made = _Table(title=title or None)
    for side, heading in zip(sides, headings, strict=True):
        made.add_column(heading, justify="right" if side == "r" else "left")
    return made


def declared(lossless: bool) -> str:
    """The word for a verdict: "lossless" or "lossy"."""
    return "lossless" if lossless else "lossy"


def verdicts(tallies: Iterable[Tally], batches: bool = False) -> Table:
    """The closing table of `check`, on instances or on batches."""
    title, sides = "Verdicts by exact enumeration", "llllrrr"
    headings = "verifier", "found", "declared", "drafts", "instances", "lossless", "largest TV"
    if batches:
        title, sides = "Selection rules: the joint law of a batch", "llllrrrr"
        headings = "selection", *headings[1:3], "verifier", "batches", "lossless", "joint TV", "TV of one"
    made = table(title, sides, *headings)
    for tally in tallies:
        found = tally.found_lossless
        name, of = tally.verifier.name, ", ".join(sorted(BRIEF.get(draft, draft) for draft in tally.drafts))
        name, of = (name, of) if tally.rule is None else (tally.rule.name, name)
        made.add_row(
            name,
            declared(found) if tally.instances else "not run",
            declared(tally.declared),
            of,
            f"{tally.instances:,}",
            f"{tally.lossless:,}",
            shown(tally.worst),
            *([shown(tally.worst_alone)] if batches else []),
            style="bold red" if not found and tally.declared else "",
        )
    return made


def declarations(tallies: Iterable[Tally]) -> Table:
    """The closing table of `check --against`: what was declared, and the largest distances from p.

    Under a measure stand the worst token's distance and that of the text of depth + 1 tokens.
    """
    headings = "rule", "instances", "own law", "budget", "TV(e, p)", "KL(e, p)", "KL(p, e)"
    made = table("Declared targets: what is emitted, e, from p; token / text", "lrllrrr", *headings)
    for tally in tallies:
        assert tally.law is not None
        ends, budget = (tally.token, tally.block), tally.law.budget
        over = f"exceeded on {tally.over:,}" if tally.over else "kept"
        made.add_row(
            tally.verifier.name,
            f"{tally.instances:,}",
            "-" if tally.law.row is None else declared(tally.found_lossless),
            "-" if budget is None else f"{budget.measure.split('(')[0]} {over}",
            *(
                " / ".join(f"{float(getattr(each, measure)):.3f}" for each in ends)
                for measure in ("total_variation", "kl", "reverse")
            ),
        )
    return made


def unseen(said: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What sizes cannot show, each with the names of those that it was said of: (name, what)."""
    names: dict[str, list[str]] = {}
    for name, what in said:
        names.setdefault(what, []).append(name)
    return (printable(f"{what} ({', '.join(dict.fromkeys(each))})") for what, each in names.items() if what)


def law(emitted: Mapping[str, fmpq], heading: str, most: int = 40) -> Table:
    """The first words of a law as a table."""
    made = table("", "lrr", heading, "probability", "")
    for word, mass in list(emitted.items())[:most]:
        made.add_row(word, text(mass), f"{float(mass):.6f}")
    if len(emitted) > most:
        made.add_row("...", f"{len(emitted) - most} more; --json has all", "")
    return made


def why(verdict: Verdict) -> str:
    """Why the law is not kept, in words: the invalid branch, the first wrong prefix, or the budget."""
    if verdict.invalid:
        return verdict.invalid
    if isinstance(verdict, AgainstVerdict) and not verdict.wrong:
        return f"a token is further from p than the budget of {verdict.against}"
    return str(verdict.wrong or "")


def smallest(given: Instance | Batch, verdict: Verdict) -> str:
    """The smallest instance or batch found on which a law is not kept, ready to be saved and run."""
    rule = f"{verdict.selection} with " if isinstance(verdict, BatchVerdict) else ""
    fault = f"misses {verdict.against}" if isinstance(verdict, AgainstVerdict) else "is not lossless"
    there = json.dumps(document(given))
    return f"{rule}{printable(verdict.verifier)} {fault} on\n  {there}\n  where {why(verdict)}"
