"""The two laws that a grammar can mean, told apart exactly."""

from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from draftproof.simulators.instances.files import read
from draftproof.theory.numbers import exact
from draftproof.theory.targets.processors import Mask, Processed
from draftproof.theory.verifiers import named
from studies.grammar_laws import main, other_law

DOCS = Path(__file__).parents[2] / "docs"
TOKEN = named("token")


def test_both_laws_of_a_grammar_are_told_apart():
    local = read(DOCS / "grammar.json")
    masks = [
        replace(each, whole=4) for each in getattr(local.target, "processors", ()) if isinstance(each, Mask)
    ]
    given = replace(local, target=Processed(local.target, masks))
    one, other = (other_law(each, TOKEN, 4) for each in (local, given))
    assert one is not None
    assert other is not None
    assert one.total_variation == other.total_variation > 0
    assert (one.judged, one.other) == (other.other, other.judged)
    assert (one.expected_accepted, one.of_other) == (other.of_other, other.expected_accepted)
    assert one.judged == "locally projected law"
    assert other_law(read(DOCS / "watermark.json"), TOKEN, 4) is None


def test_brackets_of_six_tokens_are_almost_wholly_apart():
    found = other_law(read(DOCS / "grammar.json"), TOKEN, 6)
    assert found is not None
    assert found.total_variation > exact("996/1000")


def test_the_page_has_what_the_command_prints():
    found = CliRunner().invoke(main, [str(DOCS / "grammar.json"), "--tokens", "6"])
    assert found.output in (DOCS / "grammars.md").read_text(encoding="utf-8")
    assert CliRunner().invoke(main, [str(DOCS / "watermark.json")]).exit_code == 2
