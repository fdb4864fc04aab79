"""What holds for every batched verifier, and what holds between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from gpu.draft import Tree  # noqa: E402
from gpu.exact.margin import STEPS  # noqa: E402
from gpu.verify import ERRORS, VERIFIERS, named  # noqa: E402
from gpu.verify.lifted_k_seq import smallest_rho  # noqa: E402
from gpu.verify.outcome import BAD_COIN, BAD_PROPOSAL, BAD_TARGET, BAD_TOKEN  # noqa: E402
from gpu.verify.residual import draw  # noqa: E402
from tests.gpu.verify.batches import ONE_BELOW, Drawn, drawn  # noqa: E402
from theory.errors import BadInput  # noqa: E402
from theory.verifiers import VERIFIERS as EXACT  # noqa: E402

everyone = pytest.mark.parametrize("verifier", VERIFIERS.values(), ids=VERIFIERS)


def fitting(verifier, batch):
    return verifier.fits(batch.tree)


def test_names_are_those_of_the_exact_verifiers():
    assert set(VERIFIERS) <= set(EXACT)
    names = {"token", "block", "greedy-block", "rrs", "specinfer", "traversal", "lifted-k-seq"}
    assert names | {"one-hot", "nss"} <= set(VERIFIERS)
    with pytest.raises(BadInput, match="no GPU verifier"):
        named("typical")


@everyone
@given(batch=drawn())
def test_never_an_impossible_token(verifier, batch):
    if not fitting(verifier, batch):
        return
    out = batch.verified(verifier)
    V = batch.target.shape[-1]
    there = batch.tree.drawn(batch.tokens)
    assert out.error.tolist() == [0] * len(out.error)
    for b, (node, token) in enumerate(zip(out.node.tolist(), out.token.tolist(), strict=True)):
        assert there[b, node]
        assert 0 <= token < V
        assert batch.target[b, node, token] > 0
        emitted = [x for x in out.emitted(batch.tree, batch.tokens)[b].tolist() if x >= 0]
        path = [node]
        while path[-1]:
            path.append(int(batch.tree.parents[0, path[-1]]))
        assert emitted == [*(int(batch.tokens[b, i - 1]) for i in path[-2::-1]), token]
        for above, below in zip(path[::-1], path[-2::-1], strict=False):
            assert batch.target[b, above, batch.tokens[b, below - 1]] > 0


@everyone
@given(batch=drawn())
def test_a_tree_by_row_decides_as_the_shared_tree(verifier, batch):
    if not fitting(verifier, batch) or not len(batch.tokens) or batch.tree.is_chain:
        return
    given = batch.tree.parents.expand(len(batch.tokens), -1)
    by_row = Tree(given, replacement=batch.tree.replacement)
    one, two = batch.verified(verifier), verifier.verify(by_row, *batch.arguments()[1:])
    assert torch.equal(one.node, two.node)
    assert torch.equal(one.token, two.token)


@everyone
@given(batch=drawn(Tree.chain(4)), length=st.integers(0, 4))
def test_a_ragged_chain_decides_as_the_shorter_one(verifier, batch, length):
    batch.tokens[:, length:] = -1
    tree, target, proposal, tokens, coins, extra = batch.arguments()
    short = verifier.verify(
        Tree.chain(length),
        target[:, : length + 1],
        proposal[:, :length],
        tokens[:, :length],
        coins[:, :length],
        extra,
    )
    garbage = torch.full_like(target[:, length + 1 :], torch.nan)
    padded = verifier.verify(
        tree,
        torch.cat((target[:, : length + 1], garbage), 1),
        torch.cat((proposal[:, :length], garbage[:, : 4 - length]), 1),
        tokens,
        coins,
        extra,
    )
    assert torch.equal(short.node, padded.node)
    assert torch.equal(short.token, padded.token)
    assert not padded.error.any()


def rates(name, batch):
    verifier = named(name)
    there = batch.tree.drawn(batch.tokens)
    found = verifier.rates(
        batch.tree, batch.target.double(), batch.proposal.double(), batch.tokens.clamp(min=0), there
    )
    return torch.where(there, found.accept, 0.0)[:, 1:]


@given(drawn(Tree.chain(3)))
def test_on_a_chain_traversal_is_block_verification(batch):
    assert torch.allclose(rates("traversal", batch), rates("block", batch), atol=1e-6)


@given(drawn(Tree.chain(3)))
def test_on_a_chain_recursive_rejection_is_token_verification(batch):
    for name in ("rrs", "specinfer"):
        assert torch.allclose(rates(name, batch), rates("token", batch), atol=1e-9)


@given(drawn(Tree.chain(1)))
def test_one_token_is_judged_alike_by_all_that_know_q(batch):
    for name in ("block", "greedy-block", "rrs", "traversal"):
        assert torch.allclose(rates(name, batch), rates("token", batch), atol=1e-9)


@given(drawn(Tree.of_shape([[[], []], [[]], []])))
def test_nss_reaches_what_the_one_hot_rule_accepts(batch):
    one_hot, nss = rates("one-hot", batch), rates("nss", batch)
    for i in range(batch.tree.size - 1):
        before = (batch.tree.parents[0, 1 : i + 1] == batch.tree.parents[0, i + 1]).nonzero().flatten()
        passed = torch.stack([1 - one_hot[:, j] for j in before.tolist()] + [torch.ones(len(nss)).double()])
        there = batch.tree.drawn(batch.tokens)[:, i + 1]
        reach = torch.where(there, 1 - passed.prod(0) * (1 - one_hot[:, i]), 0)
        assert torch.allclose(nss[:, i], reach, atol=1e-6)


@given(drawn(replacement=False))
def test_equal_models_accept_everything(batch):
    batch.proposal = batch.target[:, list(batch.tree.inner)].clone()
    fresh = Drawn(batch.tree, batch.target.shape[-1], len(batch.tokens), 3, holes=False)
    fresh.coins.clamp_(max=1 - STEPS * 2**-24)
    for name in ("rrs", "traversal"):
        levels = fresh.tree.levels[0][fresh.verified(named(name)).node]
        first = fresh.tree
        at, depth = 0, 0
        while (below := (first.parents[0, at + 1 :] == at).nonzero()).numel():
            at, depth = at + 1 + int(below[0]), depth + 1
        assert (levels >= depth).all()


@everyone
def test_bfloat16_rows_are_widened_and_renormalised(verifier):
    batch = Drawn(Tree.chain(3), 6, 64, 7)
    low = [rows.bfloat16() for rows in (batch.target, batch.proposal)]
    high = [rows.float() / rows.float().sum(-1, keepdim=True) for rows in low]
    rest = batch.arguments()[3:]
    one, two = verifier.verify(batch.tree, *low, *rest), verifier.verify(batch.tree, *high, *rest)
    assert torch.equal(one.node, two.node)
    assert torch.equal(one.token, two.token)
    assert not one.error.any()


def spoiled():
    batch = Drawn(Tree.chain(2), 4, 12, 1, holes=False)
    target, proposal, tokens, coins, extra = batch.arguments()[1:]
    target[0, 0, 1] = torch.nan
    target[1, 2, 1] = torch.inf
    target[2, 1] = 0
    target[3, 1] *= 2
    target[4, 0, 0], target[4, 0, 1] = -0.25, target[4, 0, 1] + target[4, 0, 0] + 0.25
    proposal[5, 1, 0] = torch.nan
    proposal[6, 0] = 0
    tokens[7, 0] = 4
    tokens[8, 1] = -2
    coins[9, 1] = 1.5
    coins[10, 0] = torch.nan
    extra[11] = -0.1
    return batch


@everyone
def test_what_is_wrong_with_a_row_is_said_and_nothing_is_emitted(verifier):
    batch = spoiled()
    out = batch.verified(verifier)
    q = 0 if "deterministic" in verifier.drafts else BAD_PROPOSAL
    want = [BAD_TARGET] * 5 + [q] * 2 + [BAD_TOKEN] * 2 + [BAD_COIN] * 3
    assert out.error.tolist() == want
    assert set(want) - {0} <= set(ERRORS)
    bad = out.error > 0
    assert (out.node[bad] == 0).all()
    assert (out.token[bad] == -1).all()
    assert (out.emitted(batch.tree, batch.tokens)[bad] == -1).all()


@everyone
def test_a_bad_row_leaves_the_others_alone(verifier):
    batch, fine = spoiled(), Drawn(Tree.chain(2), 4, 12, 2, holes=False)
    alone = fine.verified(verifier)
    both = [
        torch.stack((a, b), 1).flatten(0, 1)
        for a, b in zip(batch.arguments()[1:], fine.arguments()[1:], strict=True)
    ]
    mixed = verifier.verify(batch.tree, *both)
    assert torch.equal(mixed.node[1::2], alone.node)
    assert torch.equal(mixed.token[1::2], alone.token)


@everyone
def test_the_ends_of_the_noise(verifier):
    batch = Drawn(Tree.chain(3), 5, 50, 4)
    tree, target, proposal, tokens, _, _ = batch.arguments()
    for coin in (0.0, ONE_BELOW, 1.0):
        for extra in (0.0, ONE_BELOW, 1.0):
            noise = torch.full(tokens.shape, coin), torch.full((len(tokens),), extra)
            out = verifier.verify(tree, target, proposal, tokens, *noise)
            assert not out.error.any()
            assert (target[torch.arange(50), out.node, out.token] > 0).all()
            if coin == 1.0:
                below = [
                    torch.full(tokens.shape, ONE_BELOW),
                    torch.full((len(tokens),), min(extra, ONE_BELOW)),
                ]
                same = verifier.verify(tree, target, proposal, tokens, *below)
                assert torch.equal(out.node, same.node)


@given(
    st.lists(st.sampled_from([0.0, 1e-38, 1e-9, 0.25, 1.0]), min_size=1, max_size=9),
    st.floats(0, 1, width=32),
)
def test_a_token_without_mass_is_never_drawn(masses, u):
    row = torch.tensor([masses])
    if row.sum() > 0:
        token = int(draw(row, torch.tensor([min(u, ONE_BELOW)]))[0])
        assert row[0, token] > 0


def test_the_draw_is_the_inverse_of_the_cumulative_sum():
    row = torch.rand(1, 1000, generator=torch.Generator().manual_seed(0))
    u = torch.rand(5000, generator=torch.Generator().manual_seed(1))
    got = draw(row.expand(5000, -1), u)
    reach = row[0].double().cumsum(0)
    assert torch.equal(got, torch.searchsorted(reach, u.double() * reach[-1], right=True))


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("block", Tree.of_shape([[], []])),
        ("rrs", Tree.of_shape([[], []], replacement=True)),
        ("specinfer", Tree.of_shape([[], []])),
    ],
)
def test_a_draft_it_is_not_made_for_is_refused(name, tree):
    with pytest.raises(BadInput, match=f"{name} is made for"):
        Drawn(tree, 4, 2, 0).verified(named(name))


def test_shapes_that_do_not_fit_are_refused():
    batch = Drawn(Tree.chain(2), 4, 3, 0)
    arguments = list(batch.arguments())
    for i, name in ((1, "target"), (2, "proposal"), (3, "tokens"), (4, "coins"), (5, "extra")):
        wrong = [*arguments]
        wrong[i] = arguments[i][..., :-1]
        with pytest.raises(BadInput, match="must be"):
            named("block").verify(*wrong)
        assert name
    with pytest.raises(BadInput, match="proposal"):
        named("block").verify(*arguments[:2], None, *arguments[3:])


@pytest.mark.parametrize("name", ["the tree", "proposal", "tokens", "coins", "extra"])
def test_what_lies_on_another_device_is_named(name):
    batch = Drawn(Tree.chain(2), 4, 3, 0)
    arguments = list(batch.arguments())
    i = ["the tree", "target", "proposal", "tokens", "coins", "extra"].index(name)
    arguments[i] = arguments[i].to("meta")
    with pytest.raises(BadInput, match=f"{name} is on meta, target on cpu"):
        named("block").verify(*arguments)


@given(drawn(Tree.chain(4)))
def test_on_a_chain_lifted_k_seq_is_block_verification(batch):
    assert torch.allclose(rates("lifted-k-seq", batch), rates("block", batch), atol=1e-6)


@given(drawn(replacement=True))
def test_rho_is_where_the_condition_of_k_seq_holds_with_equality(batch):
    t, q = batch.target[:, :1].double() / 2, batch.target[:, :1].flip(-1).double()
    k = torch.tensor(3)
    rho = smallest_rho(t, q, k.expand(t.shape[:-1]))
    beta = torch.minimum(t / rho[..., None], q).sum(-1)
    assert ((rho >= 1) & (rho <= k)).all()
    assert torch.allclose(1 - (1 - beta) ** k, rho * beta, atol=1e-6)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_equal_rows_need_no_larger_rho(k):
    p = torch.softmax(torch.randn(4, 1000, generator=torch.Generator().manual_seed(k)).double(), -1)
    assert (smallest_rho(p, p, torch.full((4,), k)) == 1).all()
