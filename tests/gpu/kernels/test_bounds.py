"""What a few tokens settle: no row is read again for it, and it is what was to come out anyway."""

import sys
from dataclasses import replace
from unittest import mock

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")

from draftproof.gpu.kernels import launch, nodes  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from tests.gpu.kernels.drafts import assert_agree, draft  # noqa: E402
from tests.gpu.logits import probabilities  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
CHUNK = 1024
OCTET, SLACK = nodes.OCTET.value, nodes.SLACK.value


def read_again(target, proposal, tokens, coins, stop):
    """Pairs of rows that block verification reads again: of nodes whose coin is undecided if p and q are
    known at the drafted token and around each chunk's largest target logit, unless a deeper node is surely
    accepted.
    """
    if stop == len(tokens):  # decided by the last node's own coin, without a read
        return 0
    w, undecided, certain = 1.0, [], 0
    for i, token in enumerate(tokens.tolist()):
        p, q = w * target[i], proposal[i]
        known = (torch.arange(len(p)) == token) | around_largest(p)
        most = (w - float(torch.minimum(p, q)[known].sum())) * (1 + SLACK)
        if i == 0 or not (w < 1 and coins[i - 1] >= most / (most + 1 - w)):
            undecided.append(i)
        least = float((p - q).clamp(min=0)[known].sum()) * (1 - SLACK)
        if i and least > 0 and coins[i - 1] < least / (least + 1 - w):
            certain = i
        w = min(1.0, float(p[token] / q[token]))
    return sum(i >= certain for i in undecided)


def around_largest(row):
    """The indices of the eight logits around each chunk's largest."""
    filled = torch.nn.functional.pad(row, (0, -len(row) % CHUNK)).reshape(-1, CHUNK // OCTET, OCTET)
    best = filled.amax(2).argmax(1)
    found = torch.zeros_like(filled, dtype=torch.bool)
    found[torch.arange(len(best)), best] = True
    return found.reshape(-1)[: len(row)]


class Spy:
    """A sweep that notes, before it runs, which children's rejections it will work out."""

    def __init__(self, kernel):
        self.kernel, self.asked = kernel, []

    def __getitem__(self, grid):
        def run(*given, **options):
            named = dict(zip(self.kernel.arg_names, given, strict=False))
            nodes, turn = named["nodes"], named["tree"].turn.cpu()
            pending = nodes.pending_round.cpu() == named["round"]
            self.asked.append(pending & (turn < nodes.stop.cpu()[:, None]))
            self.kernel[grid](*given, **options)

        return run


def asked(case, name):
    """The outcome, and [B, N] in the first round."""
    spy = Spy(launch.sweep)
    with mock.patch.object(launch, "sweep", spy):
        outcome = case.run(name)
    return outcome, spy.asked[0]


@pytest.mark.parametrize("spread", [0.5, 2.0, 6.0])
@pytest.mark.sampled(4, long=True)
def test_rows_are_read_again_where_the_count_says_so(spread, device):
    case = draft(Tree.chain(4), 10, 2 * CHUNK - 300, seed=21, spread=spread)
    found = asked(case.to(device), "block")[1].sum(1)
    stops = case.plain("block").node
    rows = [probabilities(each).double() for each in (case.target, case.proposal)]
    for b, stop in enumerate(stops.tolist()):
        noise = case.tokens[b], case.coins[b].tolist()
        assert found[b] == read_again(rows[0][b], rows[1][b], *noise, stop)
    assert found.sum() < 10 * 4 / 2  # and that is a small part


def test_without_bounds_more_is_read_and_nothing_else_changes(device):
    if device.type != "cpu":
        pytest.skip("a compiled kernel keeps the functions that it was compiled with")
    case = draft(Tree.chain(4), 6, 2 * CHUNK, seed=22, spread=3.0)
    told, few = asked(case, "block")
    with mock.patch.object(sys.modules["draftproof.gpu.kernels.opening"], "reject_child", return_value=None):
        plain, many = asked(case, "block")
    assert torch.equal(told.node, plain.node)
    assert torch.equal(told.token, plain.token)
    assert 0 < few.sum() < many.sum()
    assert not (few & ~many).any()


@pytest.mark.parametrize("tree", [Tree.paths(3, 2), Tree.of_shape([[[]], [[[]]], [[], []]])], ids=["6", "8"])
def test_only_children_of_trees(tree, device):
    case = draft(tree, 4, CHUNK + 200, seed=23, spread=3.0)
    outcome, found = asked(case.to(device), "traversal")
    assert torch.equal(outcome.node, case.plain("traversal").node)
    parents = tree.parents[0].tolist()
    only = torch.tensor([f > 0 and parents.count(f) == 1 for f in parents])
    assert not found[:, only].all()


def test_coins_at_the_ends(device):
    """0 is below every rate above 0, 1 - 2^-24 below few: each is settled, and rightly."""
    case = draft(Tree.chain(3), 4, CHUNK + 8, seed=24, spread=5.0)
    for coin in (0.0, 1 - 2**-24):
        assert_agree(replace(case, coins=torch.full_like(case.coins, coin)).to(device), "block", 0.0)
