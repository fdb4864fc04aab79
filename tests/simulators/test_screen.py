"""Progress on a terminal: what is counted, with fields of its own or without."""

from io import StringIO

import pytest
from rich.console import Console

from draftproof.simulators import screen
from draftproof.simulators.commands.sweep import _table as swept
from draftproof.simulators.laws.check import Tally
from draftproof.theory.verifiers import named


@pytest.mark.parametrize(
    ("fields", "shown"), [({}, "1 of 1,200 claims"), ({"done": 7, "all": 9}, "7 of 9 claims")]
)
def test_progress_counts_what_is_completed_unless_told_otherwise(monkeypatch, fields, shown):
    terminal = Console(file=StringIO(), force_terminal=True, width=110)
    monkeypatch.setattr(screen, "console", lambda stderr: terminal)
    with screen.progress("claims") as bar:
        task = bar.add_task("checking", total=1200, **fields)
        bar.advance(task)
        terminal.print(bar.get_renderable())
    assert shown in terminal.file.getvalue()


def test_a_total_that_is_not_known_yet_counts_from_nothing(monkeypatch):
    terminal = Console(file=StringIO(), force_terminal=True, width=110)
    monkeypatch.setattr(screen, "console", lambda stderr: terminal)
    with screen.progress() as bar:
        bar.add_task("auditing", total=None)
        terminal.print(bar.get_renderable())
    assert "0 of 0 instances" in terminal.file.getvalue()


@pytest.mark.parametrize("width", [60, 110])
def test_a_narrow_terminal_cuts_no_verdict(width):
    tally = Tally(named("hsd-multidraft-released"), None, {"paths", "chain"}, 123_456, 123_456)
    terminal = Console(file=StringIO(), width=width)
    terminal.print(screen.verdicts([tally, Tally(named("block"), None, {"chain"}, 123_456, 123_456)]))
    shown = terminal.file.getvalue()
    assert "…" not in shown
    assert "│ lossy    │ lossless │" in shown
    assert "│ lossless │ lossless │" in shown


def test_a_narrow_terminal_cuts_no_verdict_of_a_sweep():
    line = {"metric": "check", "kind": "tree without replacement", "name": "multipath-block", "rows": 1234}
    line |= {"verdicts": {"lossless": 1200, "lossy": 34}, "expected_accepted": {"mean": 1.2345}}
    terminal = Console(file=StringIO(), width=60)
    terminal.print(swept([line]))
    shown = terminal.file.getvalue()
    assert "…" not in shown
    assert "1,200 lossless, 34 lossy" in shown
