"""The same noise gives the same decision; and a wrong verifier is found out."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.against_exact.drafts import batch, every  # noqa: E402
from draftproof.gpu.checks.against_exact.noise import agreement, fits, grouped  # noqa: E402
from draftproof.gpu.checks.against_exact.rounding import margins  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.gpu.verify import VERIFIERS, Drafts, Rates, Verifier, chains  # noqa: E402
from draftproof.gpu.verify.recursive import rejections  # noqa: E402
from draftproof.simulators.instances.grids import Grid  # noqa: E402
from draftproof.simulators.instances.randoms import Randoms  # noqa: E402
from draftproof.simulators.instances.scenarios import Scenarios  # noqa: E402
from draftproof.simulators.instances.suite import standard  # noqa: E402
from draftproof.theory.drafts.chain import Chain  # noqa: E402
from draftproof.theory.drafts.paths import Paths  # noqa: E402
from draftproof.theory.drafts.tree import Tree as TreeScheme  # noqa: E402
from tests.gpu.lossy import greedy_block_rates  # noqa: E402
from tests.problems import LOPSIDED, SCHEMES  # noqa: E402


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
@pytest.mark.sampled(12, long=True)
def test_every_verifier_on_every_kind_of_draft(scheme):
    instances = [*Scenarios(scheme, 3), *Randoms(scheme, 3, 2)]
    found = list(agreement(instances))
    assert [each.verifier for each in found] == [
        name for name, verifier in VERIFIERS.items() if fits(verifier, instances[0])
    ]
    for each in found:
        assert each.wrong == 0, each
        assert each.rows > 10 * each.narrow


@pytest.mark.parametrize("name", ["optimal", "lifted-optimal"])
def test_a_sibling_that_is_kept_for_certain_leaves_exactly_nothing(name):
    # With p = (1/3, 2/3) and q = (1/6, 5/6) a drafted 0 is kept; a drafted 1 is then refused, also by coin 0.
    (found,) = agreement(
        list(Grid(TreeScheme([[], []], replacement=True), 2, 6)), verifiers=[VERIFIERS[name]]
    )
    assert found.wrong == 0, found


def test_margins_see_errors_that_cancel_where_entries_move_by_equal_amounts():
    def difference(rows):
        return rows.target[:, 0, :1] - rows.target[:, 0, 1:]

    rows = torch.full((10_000, 1, 2), 0.5, dtype=torch.float64)
    none = torch.empty(10_000, 0, dtype=torch.long)
    assert margins(difference, Drafts(Tree([-1]), rows, rows[:, :0], none), 1e-6).min() > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("in_classes", "step"), [(False, 1), (True, 3), pytest.param(True, 1, marks=pytest.mark.long)]
)
def test_the_standard_suite(in_classes, step):
    rules = [each for each in VERIFIERS.values() if ("optimal" in each.name) == in_classes]
    for instances in grouped([family for family in standard()[::step] if len(family)]):
        for found in agreement(instances, verifiers=rules):
            assert found.wrong == 0, (found, instances[0].name)


def uncapped(drafts):
    judged = greedy_block_rates(drafts)
    return Rates(judged.accept, chains.block_rates(drafts).cut)


def plain_residual(drafts):
    judged = chains.block_rates(drafts)
    return Rates(judged.accept, judged.cut.clamp(max=1))


def no_update(drafts):
    entry, _, cut = rejections(drafts, joint=True)
    return Rates(entry, cut)


def other_draws(drafts):
    other = drafts.tree.to("cpu")
    other.replacement = not drafts.tree.replacement
    _, left, cut = rejections(replace(drafts, tree=other), joint=True)
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
    (found,) = agreement(list(Randoms(scheme, 3, 16)), verifiers=[wrong])
    assert found.wrong > 0


class Downwards(Verifier):
    def decide(self, *arguments):
        return replace(VERIFIERS["traversal"], upwards=False).decide(*arguments)


def test_a_wrong_order_is_found():
    traversal = VERIFIERS["traversal"]
    wrong = Downwards(traversal.drafts, traversal.rates, upwards=True, name=traversal.name)
    (found,) = agreement(list(Randoms(TreeScheme(LOPSIDED), 3, 4)), verifiers=[wrong])
    assert found.wrong > 0


@pytest.mark.parametrize("name", ["rrs", "traversal", "one-hot", "nss"])
def test_merged_paths_are_judged_as_the_tree_that_the_theory_makes_of_them(name):
    instance = Randoms(Paths(3, 2), 3, 2)[1]
    drafts = [each for each in every(instance) if len(each.nodes) > 3]
    rows = batch(drafts)
    by_draft = VERIFIERS[name].rates(rows).accept
    leaves = [[path[-1].prefix for path in each.draft.paths] for each in drafts]
    tree, tokens = Tree.merged(torch.tensor(leaves))
    p, q = instance.target, instance.proposal
    words = [[(), *(leaf[:d] for d in (1, 2) for leaf in paths)] for paths in leaves]
    target = torch.tensor(
        [[[float(x) for x in p[word]] for word in each] for each in words], dtype=torch.float64
    )
    heads = [[(), *(leaf[:1] for leaf in paths)] for paths in leaves]
    proposal = torch.tensor(
        [[[float(x) for x in q[word]] for word in each] for each in heads], dtype=torch.float64
    )
    merged = Drafts(tree, target, proposal, tokens)
    by_path = VERIFIERS[name].rates(merged).accept
    there = tree.drawn(tokens)
    for i, drafted in enumerate(drafts):
        want = {node.prefix: float(by_draft[i, j]) for j, node in enumerate(drafted.nodes) if j}
        got = {words[i][j]: float(by_path[i, j]) for j in range(1, tree.size) if there[i, j]}
        assert got == pytest.approx(want, abs=1e-5)
