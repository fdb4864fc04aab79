"""The kernels decide as plain torch does, from the same noise."""

from dataclasses import replace
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")


from draftproof.gpu.kernels import grid, launch, verify  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from tests.gpu.kernels.drafts import CASES, NAMED, PAIR, TREE, assert_agree, both_sides, draft  # noqa: E402
from tests.gpu.logits import from_logits  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
SIZES = {"interpreter": (3, 1100), "cuda": (64, 50257)}
"""B and V; more than one chunk in both."""


def size(device):
    return SIZES["cuda" if device.type == "cuda" else "interpreter"]


@pytest.mark.parametrize(("name", "tree"), CASES, ids=NAMED)
@pytest.mark.sampled(4, long=True)
def test_random_logits(name, tree, device):
    assert_agree(draft(tree, *size(device)).to(device), name)


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("block", Tree.chain(2)),
        ("rrs", Tree.of_shape([[], []])),
        *(pytest.param(*CASES[i], marks=pytest.mark.slow) for i in (0, 1, 2, 3, 5, 6, 9)),
    ],
)
def test_a_coin_on_each_side_of_every_threshold(name, tree, device):
    assert_agree(both_sides(draft(tree, 1, 40, seed=5), name).to(device), name)


@pytest.mark.parametrize(("name", "tree"), [("block", Tree.chain(3)), ("rrs", Tree.of_shape(PAIR))])
def test_a_program_that_reads_two_chunks_in_turn(name, tree, device):
    """Three chunks, so that the last program of a sweep has one left."""
    grouped = replace(grid.SIZES, chunk=1024, group=2, many=0)
    with mock.patch.object(grid, "SIZES", grouped):
        assert_agree(draft(tree, 3, 3000, seed=14, spread=1.0).to(device), name)


@pytest.mark.parametrize("name", ["token", "block", "traversal"])
def test_bfloat16_logits(name, device):
    assert_agree(draft(Tree.chain(3), *size(device), seed=3).to(device, torch.bfloat16), name)


@pytest.mark.parametrize(
    ("name", "tree"),
    [("block", Tree.chain(3)), pytest.param("rrs", Tree.of_shape(PAIR), marks=pytest.mark.slow)],
)
def test_each_request_has_its_own_settings(name, tree, device):
    """Greedy, filtered, hot and plain requests in one launch."""
    asked = {
        "temperature": torch.tensor([0.0, 0.6, 1.4, 1.0], device=device),
        "top_k": torch.tensor([0, 5, 0, 0], device=device),
        "top_p": torch.tensor([1.0, 0.9, 0.7, 1.0], device=device),
        "min_p": 0.02,
    }
    case = draft(tree, 4, 300, seed=21).to(device)
    assert_agree(case, name, **asked)
    filtered = case.plain(name, **asked)
    assert not torch.equal(filtered.token, case.plain(name).token)
    plain = from_logits(
        name, case.to("cpu"), **{key: torch.as_tensor(each).cpu() for key, each in asked.items()}
    )
    assert plain.error.tolist() == [0, 0, 0, 0]


def test_logits_of_two_types(device):
    case = draft(Tree.chain(2), *size(device), seed=10)
    assert_agree(replace(case, target=case.target.bfloat16()).to(device), "block")


@pytest.mark.parametrize(("spread", "apart"), [(0.0, 1e-3), (1.0, 1.0), (40.0, 0.3)])
@pytest.mark.sampled(3)
def test_the_largest_vocabulary(spread, apart, device):
    """Flat and near-equal, ordinary, and peaked rows of 262,144 logits."""
    case = draft(Tree.chain(1), 1, 262_144, 2, spread, apart)
    got, want = case.to(device).run("block"), case.plain("block")
    assert torch.equal(got.node, want.node)
    assert (got.token - want.token).abs() <= (0 if spread > 1 else 5)  # F rises by 4e-6 a token where flat


@pytest.mark.parametrize(
    "rows", [{"temperature": 0.6}, {"temperature": 0.0}, {"top_k": 5}, {"top_p": 0.8, "min_p": 0.1}]
)
@pytest.mark.sampled(4, long=True)
def test_rows_are_filtered_as_in_plain_torch(rows, device):
    assert_agree(draft(Tree.of_shape(PAIR), 4, 60, seed=4).to(device), "traversal", **rows)


@pytest.mark.parametrize("name", ["block", "traversal", "rrs", "one-hot"])
def test_ragged_drafts(name, device):
    tree = Tree.chain(3) if name == "block" else Tree.of_shape(TREE)
    case = draft(tree, 4, 60, seed=7)
    tokens = case.tokens.clone()
    for b in range(4):
        tokens[b, b % (tree.size - 1)] = -1  # and nothing below it counts
    assert_agree(replace(case, tokens=tokens).to(device), name)


def test_trees_that_differ_from_row_to_row(device):
    paths = draft(Tree.paths(3, 2), 3, 5, seed=8, spread=1.0)
    tree, tokens = Tree.merged(paths.tokens.reshape(3, 2, 3).mT)
    assert (tokens < 0).any()
    for name in ("traversal", "rrs"):
        assert_agree(replace(paths, tree=tree, tokens=tokens).to(device), name)


def test_strided_logits(device):
    case = draft(Tree.chain(1), 2, 60, seed=9)
    turned = case.target.mT.contiguous().mT
    padded = torch.nn.functional.pad(case.proposal, (3, 5))[..., 3:-5]
    assert_agree(replace(case.to(device), target=turned.to(device), proposal=padded.to(device)), "block")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="graphs are captured on a GPU")
@pytest.mark.parametrize(("name", "tree"), CASES, ids=NAMED)
def test_a_captured_graph_gives_what_the_calls_gave(name, tree):
    case = draft(tree, 4, 5000).to("cuda")
    want = verify(name, case)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = verify(name, case)
    graph.replay()
    assert torch.equal(got.node, want.node)
    assert torch.equal(got.token, want.token)


@settings(max_examples=3)
@given(
    some.integers(1, 9),
    some.integers(0, 10**6),
    some.sampled_from([0.0, 1.0, 30.0]),
    some.sampled_from([0.0, 0.3, 5.0]),
)
def test_traversal_of_a_chain_is_block(V, seed, spread, apart):
    if torch.cuda.is_available():
        pytest.skip("interpreter only")
    case = draft(Tree.chain(2), 2, V, seed, spread, apart)
    block, traversal = case.run("block"), case.run("traversal")
    assert torch.equal(block.node, traversal.node)
    assert torch.equal(block.token, traversal.token)
    assert ((block.token >= 0) & (block.token < V)).all()


def test_sweeps_that_depend_on_one_another_are_counted():
    trees = Tree.chain(8), Tree.of_shape([[[], []], [[], []]]), Tree.chain(0)
    assert list(map(launch.rounds, trees)) == [1, 3, 0]
