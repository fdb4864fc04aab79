"""Named scenarios are what their names say, on every draft."""

import pytest

from draftproof.simulators.instances.scenarios import SCENARIOS, Scenarios, scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ZERO, exact
from draftproof.theory.rows import has_mass, meet, supported
from tests.checks import assert_one_line
from tests.problems import SCHEMES, TOY

VOCABS = pytest.mark.parametrize("vocab", [2, 3, 5])


def pairs(name, vocab, depth=3):
    """(p, q) of every prefix above the draft's depth."""
    instance = scenario(name, Chain(depth), vocab)
    return [(instance.target[prefix], q) for prefix, q in instance.proposal.given()]


def test_the_toy_is_the_toy():
    assert pairs("toy", 2) == [(TOY.target[()], TOY.proposal[()])] * 7


@VOCABS
def test_relations_between_p_and_q(vocab):
    assert all(p == q for p, q in pairs("equal", vocab))
    assert all(p == q[::-1] for p, q in pairs("reversed", vocab))
    assert all(len(set(q)) == 1 < len(set(p)) for p, q in pairs("uniform proposal", vocab))
    assert all(len(set(p)) == 1 < len(set(q)) for p, q in pairs("uniform target", vocab))
    assert all(not has_mass(meet(p, q)) for p, q in pairs("disjoint supports", vocab))
    for p, q in pairs("near tie", vocab):
        assert sum(abs(a - b) for a, b in zip(p, q, strict=True)) == 2 * exact("1e-12")


@VOCABS
def test_zeros_stand_where_they_should(vocab):
    whole, holed = [vocab], [vocab - 1]
    for name, in_p, in_q in (
        ("holes in the proposal", whole, holed),
        ("holes in the target", holed, whole),
        ("holes in both", holed, holed),
        ("one-hot target", [1], whole),
        ("one-hot proposal", whole, [1]),
        ("one-hot both, equal", [1], [1]),
        ("one-hot both, apart", [1], [1]),
    ):
        found = pairs(name, vocab)
        assert sorted({supported(p) for p, _ in found}) == in_p, name
        assert sorted({supported(q) for _, q in found}) == in_q, name
    assert all(p == q for p, q in pairs("one-hot both, equal", vocab))
    assert all(p != q for p, q in pairs("one-hot both, apart", vocab))
    assert all(p.index(ZERO) != q.index(ZERO) for p, q in pairs("holes in both", vocab))


@VOCABS
def test_peaks_and_seesaws(vocab):
    assert all(max(p) > 10**5 * min(p) and len(set(q)) == 1 for p, q in pairs("peaked target", vocab))
    assert all(max(q) > 10**5 * min(q) and len(set(p)) == 1 for p, q in pairs("peaked proposal", vocab))
    for name, first in (("seesaw", False), ("seesaw, falling first", True)):
        instance = scenario(name, Chain(3), vocab)
        rises = [instance.target[(0,) * i][0] > instance.proposal[(0,) * i][0] for i in range(3)]
        assert rises == [first, not first, first]


def test_rows_depend_on_the_context():
    assert len({p for p, _ in pairs("equal", 3)}) == 3


@pytest.mark.parametrize("label", SCHEMES)
@VOCABS
def test_families_have_every_scenario_on_the_draft(label, vocab):
    family = Scenarios(SCHEMES[label], vocab)
    assert len(family) == len(SCENARIOS) == len(list(family)) == 18
    assert [instance.name.startswith(name) for name, instance in zip(SCENARIOS, family, strict=True)] == [
        True
    ] * 18
    assert all(instance.draft == SCHEMES[label] and instance.vocab == vocab for instance in family)


@pytest.mark.parametrize("vocab", [1, 0, -1])
def test_one_symbol_is_no_scenario(vocab):
    with pytest.raises(BadInput) as caught:
        scenario("toy", Chain(1), vocab)
    assert_one_line(caught.value, "at least 2", str(vocab))
