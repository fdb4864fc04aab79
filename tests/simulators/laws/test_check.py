"""The suite covers what it says, on any number of processes."""

import pytest

from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.instances.suite import from_text, standard
from draftproof.simulators.laws import check
from draftproof.simulators.laws.check import Tally, applies, judged
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.support.pool import shared
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.selection import RULES
from draftproof.theory.verifiers import VERIFIERS, named
from tests.mutants.edits import TURNS
from tests.mutants.registry import CATALOGUE

ALL = list(VERIFIERS.values())


def pieces(families, verifiers, **options):
    """The work of judging verifiers against p."""
    return check.pieces(families, [(verifier, None) for verifier in verifiers], **options)


def test_the_standard_suite_is_large_and_meets_every_verifier_on_every_draft_it_is_made_for():
    work = list(pieces(standard(), ALL))
    assert sum(len(piece.indices) for piece in work) >= 20_000
    met = {(verifier.name, piece.draft) for piece in work for verifier, _ in piece.pairs}
    assert met == {(verifier.name, label) for verifier in ALL for label in verifier.drafts}


def test_the_standard_suite_has_every_kind_of_instance():
    names = " ".join(family.name for family in standard())  # type: ignore[attr-defined]
    assert all(kind in names for kind in ("scenarios", "grid", "random", "text"))


@pytest.mark.parametrize("mutant", [each for each in CATALOGUE if each.drafts == TURNS], ids=lambda m: m.flaw)
@pytest.mark.sampled(2)
def test_the_standard_suite_plans_a_level_in_several_groups(mutant):
    """Flaws of `layered` that show only where nodes of one level take turns."""
    (family,) = (each for each in standard() if len(each) and each[0].draft in TURNS)
    assert all(judge(instance, named("layered")).lossless for instance in family)
    assert not all(judge(instance, mutant.verifier).lossless for instance in family)


@pytest.mark.parametrize("jobs", [1, 2])
def test_verdicts_do_not_depend_on_the_number_of_processes(jobs):
    verifiers = [named("block"), named("hsd-released"), named("k-seq")]
    work = list(pieces([Scenarios(Chain(2), 2), Grid(Chain(1), 2, 3)], verifiers))
    found = sorted(
        (verdict.instance, verdict.verifier, verdict.lossless, str(verdict.total_variation))
        for _, verdicts in shared(judged, work, jobs)
        for _, verdict in verdicts
    )
    assert len(found) == 3 * (len(Scenarios(Chain(2), 2)) + 16)
    assert {name for _, name, lossless, _ in found if not lossless} == {"hsd-released"}


def test_the_tally_keeps_the_smallest_failure_whatever_the_order():
    verifier = named("hsd-released")
    work = list(pieces([Scenarios(Chain(3), 2), Scenarios(Chain(2), 2)], [verifier]))
    tallies = []
    for order in (work, work[::-1]):
        tally = Tally(verifier)
        for piece, verdicts in shared(judged, order, 1):
            for index, verdict in verdicts:
                tally.add(verdict, piece, index)
        tallies.append(tally)
    first, second = (tally.failing() for tally in tallies)
    assert first is not None
    assert first == second
    assert first.draft.depth == 2
    assert not tallies[0].found_lossless
    assert tallies[0].worst == tallies[1].worst > 0


def test_rules_that_order_tokens_are_kept_from_large_grids():
    rules = [named(name) for name in ("k-seq", "greedy-block", "token")]
    for size, names in ((48, {"greedy-block", "token"}), (16, {"k-seq", "greedy-block", "token"})):
        work = pieces([Grid(Chain(1), 2, size)], rules)
        assert {verifier.name for piece in work for verifier, _ in piece.pairs} == names


def test_without_force_a_verifier_is_kept_to_its_drafts():
    family = Scenarios(Chain(1), 2)
    assert not applies(named("spechub"), family[0])
    assert next(pieces([family], [named("spechub")])).pairs == ()
    assert next(pieces([family], [named("spechub")], force=True)).pairs == ((named("spechub"), None),)


def test_a_text_makes_every_kind_of_draft(tmp_path):
    source = tmp_path / "text.txt"
    source.write_text("to be or not to be, that is the question " * 5, encoding="utf-8")
    labels = {family[0].draft.label for family in from_text(source, 3, 2)}
    assert labels == {label for verifier in ALL for label in verifier.drafts}


@pytest.mark.parametrize(("rule", "agrees"), [(None, False), ("fixed", True), ("tetris", False)])
def test_a_lossy_verifier_need_not_show_in_batches_that_are_made_to_expose_a_rule(rule, agrees):
    found = Tally(named("hsd-released"), rule and RULES[rule], instances=9, lossless=9, kept=9)
    assert found.as_declared(thorough=True) == agrees
    assert found.as_declared(thorough=False)
