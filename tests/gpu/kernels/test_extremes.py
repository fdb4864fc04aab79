"""Rows that are no laws, ids that are no tokens, drafts without tokens, coins at the ends."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")


from draftproof.gpu.kernels import NAMES, verify  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.theory.errors import BadInput  # noqa: E402
from tests.gpu.kernels.drafts import TREE, Draft, assert_agree, draft  # noqa: E402
from tests.gpu.logits import emitted, from_logits, probabilities  # noqa: E402
from tests.gpu.verify.test_optimal import EDGES, drafted  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
CHAIN = Tree.chain(2)
nan, inf = float("nan"), float("inf")


@pytest.mark.parametrize(("where", "what"), [(0, nan), (1, inf), (2, nan), (0, -inf)])
def test_a_target_row_that_is_no_law_is_an_error_of_its_own_row_alone(where, what, device):
    case = draft(CHAIN, 2, 40)
    case.target[1, where, : 40 if what == -inf else 1] = what
    got = case.to(device).run("block")
    assert got.error.tolist() == case.plain("block").error.tolist() == [0, 1]
    assert (got.node[1], got.token[1]) == (0, -1)
    assert got.token[0] >= 0


@pytest.mark.parametrize("name", ["token", "traversal"])
def test_other_errors_have_the_codes_of_plain_torch(name, device):
    case = draft(CHAIN, 5, 40)
    case.proposal[0, 1, 3] = nan
    case.tokens[1, 1] = 40
    case.tokens[2, 0] = -2
    case.coins[3, 0] = nan
    case.extra[4] = 1.5
    got = case.to(device).run(name)
    assert got.error.tolist() == case.plain(name).error.tolist() == [2, 3, 3, 4, 4]
    assert (got.token == -1).all()


def test_rows_that_nothing_was_drawn_from_may_hold_anything(device):
    case = draft(CHAIN, 2, 40)
    case.tokens[:, 1] = -1
    case.target[:, 2] = nan
    case.proposal[:, 1] = inf
    assert_agree(case.to(device), "block", at_least=1)


def test_a_tree_that_names_rows_which_are_not_there_is_an_error(device):
    case = draft(CHAIN, 2, 40)
    tree = Tree(torch.tensor([[-1, 0, 1], [-1, 0, 1]]), depth=2, rows=torch.tensor([[0, 1, 0], [0, 7, 0]]))
    assert replace(case, tree=tree).to(device).run("traversal").error.tolist() == [0, 2]


@pytest.mark.parametrize("name", NAMES)
def test_no_drafts_and_no_requests(name, device):
    tree = Tree.chain(0)
    if name in ("block", "token", "traversal", "one-hot"):
        assert_agree(draft(tree, 2, 40).to(device), name, at_least=1)
    empty = draft(CHAIN, 0, 40).to(device).run(name)
    assert [len(each) for each in (empty.node, empty.token, empty.error)] == [0, 0, 0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("coin", [0.0, 1 - 2**-24])
@pytest.mark.sampled(8, long=True)
def test_coins_at_the_ends_never_give_a_token_without_mass(name, coin, device):
    """Every second token is impossible for the target, and drafted all the same."""
    chain = name in ("token", "block")
    tree = Tree.chain(2) if chain else Tree.of_shape(TREE, replacement=name == "specinfer")
    if name == "specinfer":
        tree = Tree.paths(2, 2)
    if "optimal" in name:
        tree = Tree.of_shape(TREE, replacement=True)
    case = draft(tree, 2, 12, seed=11)
    target = torch.where(torch.arange(12) % 2 == 0, -inf, case.target)
    case = replace(case, target=target)
    ends = replace(case, coins=torch.full_like(case.coins, coin), extra=torch.tensor([0.0, 1 - 2**-24]))
    got = ends.to(device).run(name)
    assert got.error.tolist() == [0, 0]
    words = emitted(got, tree, case.tokens)
    assert (words[words >= 0] % 2 == 1).all()
    assert torch.equal(got.node, ends.plain(name).node)


@pytest.mark.parametrize("name", ["one-hot", "nss"])
def test_a_token_that_is_drafted_twice_counts_once(name, device):
    """Coins between its probability and twice that, where a copy would be taken if it counted again."""
    case = draft(Tree.of_shape([[], [], []]), 8, 4, seed=13)
    tokens = torch.tensor([[0, 0, 1]]).expand(8, 3).contiguous()
    p = probabilities(case.target)[:, :1, 0]
    coins = p * torch.linspace(1.1, 1.9, 8)[:, None]
    case = replace(case, tokens=tokens, coins=coins.clamp(max=0.99).expand(8, 3).contiguous())
    assert_agree(case.to(device), name)


def test_equal_rows_accept_everything_whatever_the_coins(device):
    case = draft(Tree.chain(3), 2, 70, spread=20.0, apart=0.0)
    case = replace(case, coins=torch.full_like(case.coins, 1 - 2**-24))
    for name in ("token", "block"):
        assert case.to(device).run(name).node.tolist() == [3, 3]


@pytest.mark.parametrize("name", ["rrs", "traversal"])
def test_a_peaked_proposal_without_its_peak(name, device):
    """After the peak is rejected the siblings' law is the tail, whose mass 1 - q(peak) has no digits left."""
    tree, V = Tree.of_shape([[], [], []]), 30
    case = draft(tree, 6, V, seed=12, spread=1.0)
    proposal = case.proposal.clone()
    proposal[..., 0] = 20.0
    target = case.target.clone()
    target[..., 0] = -20.0
    coins = case.coins.clone()
    coins[:, 0] = 1 - 2**-24
    coins[3:] = 1 - 2**-24  # all that can be rejected is
    tokens = case.tokens.clone()
    tokens[:, 0] = 0
    tokens[:, 1:] = 1 + torch.arange(12).reshape(6, 2)
    case = replace(case, target=target, proposal=proposal, tokens=tokens, coins=coins)
    assert_agree(case.to(device), name)


@pytest.mark.slow
@pytest.mark.parametrize("strata", [pytest.param(False, marks=pytest.mark.long), True])
@pytest.mark.parametrize(
    "rows", [pytest.param(rows, marks=[pytest.mark.long] * (n % 3 > 0)) for n, rows in enumerate(EDGES)]
)
def test_the_priority_rule_on_the_edges(rows, strata, device):
    """In bfloat16: the largest vocabulary on a GPU; one that the interpreter reads in seconds elsewhere."""
    p, q = EDGES[rows](262_144 if device.type == "cuda" else 3000)
    batch = drafted(p, q, torch.bfloat16, strata)
    p = torch.tensor(p).bfloat16()
    for coin in (0.3, 1 - 2**-24):
        noise = {"coins": torch.full_like(batch.coins, coin), "extra": torch.full_like(batch.extra, coin)}
        logits = {"target": p.expand(1, 3, -1), "proposal": batch.proposal.log()}
        case = replace(batch, **logits, **noise).to(device)
        for name in ("optimal", "lifted-optimal"):
            found, want = verify(name, case), from_logits(name, case)
            assert int(found.error) == 0
            assert p[int(found.token)] > -inf
            if coin == 0.3:  # at the end sums differ in their last digits
                assert (int(found.node), int(found.token)) == (int(want.node), int(want.token))


def test_one_token_vocabulary(device):
    case = Draft(CHAIN, torch.zeros(1, 3, 1), torch.zeros(1, 2, 1), torch.zeros(1, 2, dtype=torch.long),
                 torch.full((1, 2), 0.9), torch.full((1,), 0.9))  # fmt: skip
    got = case.to(device).run("block")
    assert (got.node.tolist(), got.token.tolist()) == ([2], [0])


def test_what_does_not_fit_is_refused_in_one_line():
    case = draft(CHAIN, 2, 40)
    with pytest.raises(BadInput, match="no GPU verifier is named 'bloc'"):
        verify("bloc", case)
    with pytest.raises(BadInput, match="target must be"):
        verify("block", replace(case, tree=Tree.chain(3)))
    with pytest.raises(BadInput, match="made for chain"):
        verify("block", replace(case, tree=Tree.of_shape(TREE)))


def test_near_equal_rows_draw_from_the_residual_or_p(device):
    """Rows that differ in the last bits leave a residual of rounding noise; what is drawn still has mass."""
    case = draft(Tree.chain(1), 3, 40, spread=3.0, apart=1e-7)
    case = replace(case, coins=torch.full_like(case.coins, 1 - 2**-24))
    got = case.to(device).run("block")
    assert (got.error == 0).all()
    assert (probabilities(case.target)[torch.arange(3), got.node, got.token] > 0).all()
