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


@pytest.mark.parametrize("width", [40, 60, 80, 110, 200])
def test_a_narrow_terminal_cuts_no_verdict_and_no_name(width):
    tally = Tally(named("hsd-multidraft-released"), None, {"paths", "chain"}, 123_456, 123_456)
    terminal = Console(file=StringIO(), width=width)
    terminal.print(screen.verdicts([tally, Tally(named("block"), None, {"chain"}, 123_456, 123_456)]))
    shown = terminal.file.getvalue()
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    assert "hsd-multidraft-released" in shown
    if width > 80:
        assert "│ hsd-multidraft-released │ lossless │ lossy    │" in shown
        assert "│ lossless │ lossless │" in shown
    else:
        words = " ".join(shown.split())
        assert words.count("found: lossless; declared: lossy") == 1
        assert words.count("found: lossless; declared: lossless") == 1


@pytest.mark.parametrize("colour", [True, False])
def test_verdicts_have_colour_on_a_terminal_unless_no_color_is_set(monkeypatch, colour):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    terminal = Console(file=StringIO(), force_terminal=True, width=200)
    monkeypatch.setattr(screen, "console", lambda: terminal)
    screen.say("token-lossless: proved\nblock is NOT lossless\nx: undecided")
    terminal.print(screen.verdicts([Tally(named("block"), None, {"chain"}, 5, 5)]))
    shown = terminal.file.getvalue()
    assert ("\x1b[32mproved" in shown) == colour
    assert ("\x1b[33mundecided" in shown) == colour
    assert ("\x1b[32mlossless" in shown) == colour
    assert "token-lossless" in shown, "names have none"
    noted = screen.table("", "ll", "verifier", "")
    noted.add_row("typical", "lossy: above the valid optimum")
    terminal.print(noted)
    assert ("\x1b[31mlossy" in terminal.file.getvalue()) == colour
    assert "\x1b[31m" in shown or not colour


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_narrow_terminal_cuts_no_verdict_of_a_sweep(width):
    line = {"metric": "check", "kind": "tree without replacement", "name": "hsd-multidraft-released"}
    line |= {"rows": 1234, "verdicts": {"lossless": 1200, "lossy": 34}}
    numbers = {"total_variation": {"largest": 0.375}, "expected_accepted": {"mean": 1.2345}}
    terminal = Console(file=StringIO(), width=width)
    terminal.print(swept("check", [line | numbers]))
    shown = terminal.file.getvalue()
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    words = shown.replace(";", " ").split()
    assert {line["name"], "1,234", "1,200", "lossless,", "34", "lossy", "0.375", "1.2345"} <= {*words}
    assert ("┃" in shown) == (width >= 80), "all its columns have room"


def test_a_terminal_folds_sentences_between_words_and_instances_never(monkeypatch):
    terminal = Console(file=StringIO(), force_terminal=True, width=40, color_system=None)
    monkeypatch.setattr(screen, "console", lambda: terminal)
    instance = '  {"vocab": 2, "target": {"": ["1/2", "1/2"]}, "proposal": {"": [1, 0]}}'
    screen.say(f"typical is not lossless, and hsd-multidraft-released is neither\n{instance}")
    first, second, third, last = terminal.file.getvalue().split("\n")
    assert (first.split()[-1], second.split()) == ("and", ["hsd-multidraft-released", "is", "neither"])
    assert (third, last) == (instance, "")
