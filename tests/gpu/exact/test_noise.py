"""The same noise gives the same decision; and a wrong verifier is found out."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from gpu.exact.noise import agreement, fits, grouped  # noqa: E402
from gpu.verify import VERIFIERS, Rates  # noqa: E402
from gpu.verify.recursive import rejections  # noqa: E402
from gpu.verify.verifier import WITH, WITHOUT  # noqa: E402
from simulators.instances.randoms import Randoms  # noqa: E402
from simulators.instances.scenarios import Scenarios  # noqa: E402
from simulators.instances.suite import standard  # noqa: E402
from tests.problems import LOPSIDED, SCHEMES  # noqa: E402
from theory.drafts.chain import Chain  # noqa: E402
from theory.drafts.tree import Tree as TreeScheme  # noqa: E402


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_every_verifier_on_every_kind_of_draft(scheme):
    instances = [*Scenarios(scheme, 3), *Randoms(scheme, 3, 2)]
    found = list(agreement(instances))
    assert [each.verifier for each in found] == [
        name for name, verifier in VERIFIERS.items() if fits(verifier, instances[0])
    ]
    for each in found:
        assert each.wrong == 0, each
        assert each.rows > 20 * each.narrow


@pytest.mark.slow
def test_the_whole_standard_suite():
    for instances in grouped([family for family in standard() if len(family)]):
        for each in agreement(instances):
            assert each.wrong == 0, (each, instances[0].name)


def uncapped(tree, target, proposal, tokens, drawn):
    judged = VERIFIERS["greedy-block"].rates(tree, target, proposal, tokens, drawn)
    return Rates(judged.accept, VERIFIERS["block"].rates(tree, target, proposal, tokens, drawn).cut)


def plain_residual(tree, target, proposal, tokens, drawn):
    judged = VERIFIERS["block"].rates(tree, target, proposal, tokens, drawn)
    return Rates(judged.accept, judged.cut.clamp(max=1))


def no_update(tree, target, proposal, tokens, drawn):
    entry, _, cut = rejections(tree, target, proposal, tokens, drawn, joint=True)
    return Rates(entry, cut)


def other_draws(tree, target, proposal, tokens, drawn):
    other = tree.to("cpu")
    other.replacement = not tree.replacement
    _, left, cut = rejections(other, target, proposal, tokens, drawn, joint=True)
    return Rates(left, cut)


@pytest.mark.parametrize(
    ("name", "scheme", "mutant"),
    [
        ("block", Chain(2), uncapped),
        ("block", Chain(2), plain_residual),
        ("traversal", TreeScheme(LOPSIDED), no_update),
        ("traversal", TreeScheme(LOPSIDED), other_draws),
        ("traversal", TreeScheme(LOPSIDED, replacement=True), other_draws),
    ],
)
def test_a_wrong_verifier_is_found(name, scheme, mutant):
    wrong = replace(VERIFIERS[name], rates=mutant)
    (found,) = agreement(list(Randoms(scheme, 3, 4)), verifiers=[wrong])
    assert found.wrong > found.rows / 100


def test_a_wrong_order_is_found():
    downwards = replace(VERIFIERS["traversal"], upwards=False)
    (found,) = agreement(list(Randoms(TreeScheme(LOPSIDED), 3, 4)), verifiers=[downwards])
    assert found.wrong
    assert {WITH, WITHOUT} <= set(downwards.drafts)
