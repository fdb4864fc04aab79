"""What a batched verifier does not take: bad rows, which say so and emit nothing, and bad arguments."""
# ruff: noqa: E402

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import ERRORS, VERIFIERS, Batch, named
from draftproof.gpu.verify.batch import BAD_COIN, BAD_PROPOSAL, BAD_TARGET, BAD_TOKEN
from draftproof.theory.errors import BadInput
from tests.gpu.logits import emitted
from tests.gpu.verify.batches import Drawn

everyone = pytest.mark.parametrize("verifier", VERIFIERS.values(), ids=VERIFIERS)


def spoiled():
    batch = Drawn(Tree.chain(2), 4, 12, 1, holes=False)
    target, proposal, tokens, coins, extra = (
        batch.target, batch.proposal, batch.tokens, batch.coins, batch.extra
    )  # fmt: skip
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
    assert (emitted(out, batch.tree, batch.tokens)[bad] == -1).all()


@everyone
def test_a_bad_row_leaves_the_others_alone(verifier):
    batch, fine = spoiled(), Drawn(Tree.chain(2), 4, 12, 2, holes=False)
    alone = fine.verified(verifier)
    both = {
        name: torch.stack((getattr(batch, name), getattr(fine, name)), 1).flatten(0, 1)
        for name in ("target", "proposal", "tokens", "coins", "extra")
    }
    mixed = verifier.verify(Batch(batch.tree, **both))
    assert torch.equal(mixed.node[1::2], alone.node)
    assert torch.equal(mixed.token[1::2], alone.token)


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
    batch = Drawn(Tree.chain(2), 4, 3, 0).batch
    for given in ("target", "proposal", "tokens", "coins", "extra"):
        wrong = replace(batch, **{given: getattr(batch, given)[..., :-1]})
        name = "proposal" if given == "target" else given
        with pytest.raises(BadInput, match=f"^{name} must be"):
            named("block").verify(wrong)
    with pytest.raises(BadInput, match="block needs the proposal's rows"):
        named("block").verify(replace(batch, proposal=None))


@pytest.mark.parametrize("name", ["the tree", "proposal", "tokens", "coins", "extra"])
def test_what_lies_on_another_device_is_named(name):
    batch = Drawn(Tree.chain(2), 4, 3, 0).batch
    key = name.removeprefix("the ")
    moved = replace(batch, **{key: getattr(batch, key).to("meta")})
    with pytest.raises(BadInput, match=f"{name} is on meta, target on cpu"):
        named("block").verify(moved)
