"""The kernels against the exact engine itself, with noise on both sides of every threshold."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")

from draftproof.gpu.checks.against_exact.noise import agreement, fits  # noqa: E402
from draftproof.gpu.checks.against_exact.run import fused  # noqa: E402
from draftproof.gpu.kernels import NAMES, verify  # noqa: E402
from draftproof.gpu.sampling.strata import stratified  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.gpu.verify import Batch, named  # noqa: E402
from draftproof.simulators.instances.randoms import Randoms  # noqa: E402
from draftproof.theory.drafts.chain import Chain  # noqa: E402
from draftproof.theory.drafts.tree import Tree as Drawn  # noqa: E402
from tests.gpu.logits import from_logits  # noqa: E402
from tests.problems import SCHEMES  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")


@pytest.mark.parametrize(
    ("name", "scheme", "V"),
    [
        ("block", Chain(2), 2),
        ("token", Chain(1), 2),
        ("traversal", Drawn([[], []]), 3),
        ("one-hot", Chain(1), 2),
    ],
    ids=str,
)
def test_one_small_instance(name, scheme, V, device):
    (found,) = agreement(Randoms(scheme, V, 1), device.type, [fused(name)])
    assert found.wrong == 0, found
    assert found.rows > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (n % 2)) for n, name in enumerate(NAMES)]
)
def test_every_kind_of_draft(name, device):
    if device.type == "cpu" and "optimal" in name:
        pytest.skip("hours in the interpreter; below it is compared with torch, which is compared elsewhere")
    for scheme in SCHEMES.values():
        instances = list(Randoms(scheme, 2 if device.type == "cpu" else 3, 1 if device.type == "cpu" else 5))
        if fits(named(name), instances[0]):
            (found,) = agreement(instances, device.type, [fused(name)])
            assert found.wrong == 0, found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["optimal", "lifted-optimal"])
@pytest.mark.parametrize(
    ("shape", "strata"), [([[[], []], [[]]], False), ([[[], []], [[]]], True), ([[[]]], True)]
)
def test_the_optimum_decides_as_torch_does(name, shape, strata, device):
    random = torch.Generator().manual_seed(0)
    tree = Tree.of_shape(shape, replacement=not strata, stratified=strata)
    B, V, inner = 3, 37, list(tree.inner)
    below = tree.children[:, inner]
    target = 2 * torch.randn(B, tree.size, V, generator=random)
    q = torch.softmax(target[:, inner] + torch.randn(B, len(inner), V, generator=random), -1)
    u = torch.rand(B * len(inner), below.shape[2], generator=random)
    mean, places, x = stratified(q.flatten(0, 1), (below > 0).sum(2).flatten().repeat(B), u)
    if strata:
        q, places = mean.view_as(q), places.view_as(q)
    else:
        x = torch.multinomial(q.flatten(0, 1), below.shape[2], replacement=True, generator=random)
    tokens = torch.full((B, tree.size), -1)
    tokens = tokens.scatter(1, below.expand(B, -1, -1).flatten(1), x.view(B, -1))[:, 1:]
    noise = torch.rand(B, tree.size - 1, generator=random), torch.rand(B, generator=random)
    batch = Batch(tree, target, q.log(), tokens, *noise, strata=places if strata else None).to(device)
    found, want = verify(name, batch), from_logits(name, batch)
    assert torch.equal(found.node, want.node)
    assert torch.equal(found.token, want.token)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["optimal", "lifted-optimal"])
def test_a_sibling_that_is_kept_for_certain_leaves_nothing_even_to_a_coin_of_0(name, device):
    p = torch.tensor([-0.4, 0.4, 0.34]).expand(1, 4, 3)
    q = torch.tensor([[[1.27, -0.64, -0.83]]])
    tree = Tree([-1, 0, 0, 0], replacement=True)
    batch = Batch(tree, p, q, torch.tensor([[0, 1, 2]]), torch.zeros(1, 3), torch.zeros(1)).to(device)
    assert verify(name, batch).node.tolist() == [3]
