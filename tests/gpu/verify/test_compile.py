"""The verifiers compile to one graph, without a break, and give the same."""

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.gpu.verify import VERIFIERS, Batch  # noqa: E402
from tests.gpu.logits import emitted  # noqa: E402
from tests.gpu.verify.batches import Drawn  # noqa: E402

SHAPE = [[[], []], [[]]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if "optimal" in name else name for name in VERIFIERS]
)
@pytest.mark.sampled(6)
def test_one_graph_same_outcome(name):
    verifier = VERIFIERS[name]
    trees = [Tree.chain(3), Tree.of_shape(SHAPE), Tree.of_shape(SHAPE, replacement=True)]
    batch = next(Drawn(tree, 7, 6, 1) for tree in reversed(trees) if verifier.fits(tree))

    def program(target, proposal, tokens, coins, extra):
        out = verifier.verify(Batch(batch.tree, target, proposal, tokens, coins, extra))
        return out.node, out.token, out.error, emitted(out, batch.tree, tokens)

    given = batch.target, batch.proposal, batch.tokens, batch.coins, batch.extra

    torch.compiler.reset()  # all verifiers share one program, and it may be compiled eight times
    compiled = torch.compile(program, fullgraph=True, backend="aot_eager")
    for one, two in zip(compiled(*given), program(*given), strict=True):
        assert torch.equal(one, two)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["block", "traversal"])
def test_inductor_gives_the_same(name):
    verifier = VERIFIERS[name]
    batch = Drawn(Tree.chain(3), 50, 6, 1)

    def program(*arguments):
        out = verifier.verify(Batch(batch.tree, *arguments))
        return out.node, out.token, out.error

    given = batch.target, batch.proposal, batch.tokens, batch.coins, batch.extra

    compiled = torch.compile(program, fullgraph=True)
    for one, two in zip(compiled(*given), program(*given), strict=True):
        assert torch.equal(one, two)
