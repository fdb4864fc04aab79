"""The block drafter: its rows with and without a cache, its parts, its folder, and greedy text with it."""
# ruff: noqa: E402

import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters.block_diffusion import Variant
from draftproof.gpu.drafters.block_layouts import load_block
from draftproof.gpu.drafters.choose import SHIPPED, pair
from draftproof.gpu.engine.output import texts
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.sampling.rows import Sampling
from draftproof.theory.errors import BadInput
from studies.train_pair import block_loss, drawn_blocks, new_block, save_block
from tests.gpu.small import PROMPTS, drafter, near, steps_of, target

KINDS = "block", "dspark"


def drafted(which, text):
    """(logits, confidence) [4, V], [4] after a text, from one pass of target and drafter over the text and
    four tokens that are not looked at.
    """
    network, whole = drafter(which).network, target().network
    batch = torch.tensor([[*text, 1, 2, 3, 4]])
    with torch.no_grad():
        found = drawn_blocks(network, whole, batch)
    confidence = None if found.confidence is None else found.confidence[0, -1].sigmoid()
    return found.logits[0, -1], confidence


@pytest.mark.parametrize("which", KINDS)
def test_rows_of_the_engine_are_those_that_are_trained(which):
    sampling = Sampling(0.7)
    steps = steps_of(
        "token", "chain:4", which, PROMPTS, sampling=sampling, max_new_tokens=12, ignore_end=True
    )
    so_far = [list(prompt) for prompt in PROMPTS]
    assert len({count for step in steps for count in step.accepted}) > 1
    for step in steps:
        for place, row in enumerate(step.rows):
            known = drafter(which).network.markov_head.markov_w1 if which == "dspark" else None
            logits, confidence = drafted(which, so_far[row])
            for k in range(1 if known else 4):  # later rows of a Markov head depend on drafted tokens
                assert torch.allclose(step.draft.proposal[place, k], sampling.rows(logits[k]), atol=2e-4)
            if known:
                assert torch.allclose(step.draft.confidence[place, 0], confidence[0], atol=2e-4)
        for row, tokens in zip(step.rows, step.emitted, strict=True):
            so_far[row] += tokens


def test_a_markov_head_makes_rows_of_the_drafted_token():
    steps = steps_of("token", "chain:2", "dspark", [[5]] * 40, max_new_tokens=3, ignore_end=True)
    tokens, rows = steps[0].draft.tokens[:, 0], steps[0].draft.proposal[:, 1]
    same = tokens[:, None] == tokens
    apart = (rows[:, None] - rows).abs().amax(-1)
    assert apart[same].max() < 1e-5 < 1e-3 < apart[~same].max()


@pytest.mark.parametrize(
    ("verifier", "spelling", "which"),
    [
        ("block", "chain:4", "block"),
        ("nss", "ddtree:9x4", "block"),
        ("one-hot", "top-k:3x3x6", "block"),
        ("nss", "ddtree:9x4", "dspark"),
        ("lifted-optimal", "strata:2x2", "dspark"),
        ("traversal", "paths:2x3", "dspark"),
    ],
)
def test_greedy_text_is_the_targets_own(verifier, spelling, which):
    steps = steps_of(verifier, spelling, which, PROMPTS, sampling=Sampling(0.0), max_new_tokens=20)
    plain = steps_of("token", None, None, PROMPTS, sampling=Sampling(0.0), max_new_tokens=20)
    assert texts(steps, 3) == texts(plain, 3)


def test_the_greedy_drafts_are_verified_by_the_targets_own_sample():
    greedy = {"draft_sampling": Sampling(0.0), "max_new_tokens": 8, "ignore_end": True}
    steps = steps_of("token", "chain:4", "block", PROMPTS, **greedy)
    assert all((step.draft.proposal.amax(-1) == 1).all() for step in steps)


def test_what_does_not_fit_is_refused():
    with pytest.raises(BadInput, match="at most"):
        steps_of("nss", "chain:5", "block")


def test_selection_reads_the_confidence_of_the_head():
    rule = Selection.of("dspark", budget=6)
    network = drafter("dspark").network
    kept = []
    for bias in (-9.0, 9.0):
        with torch.no_grad():
            network.confidence_head.proj.bias.fill_(bias)
        steps = steps_of("token", "chain:4", "dspark", PROMPTS, selection=rule, max_new_tokens=6)
        kept.append(sum(steps[0].kept))
    assert kept == [0, 6]


def test_parameters_have_the_names_of_published_checkpoints():
    layer = "self_attn.{}.weight", ("q_proj", "k_proj", "v_proj", "o_proj", "q_norm", "k_norm")
    names = {f"layers.0.{layer[0].format(each)}" for each in layer[1]}
    names |= {f"layers.0.mlp.{each}_proj.weight" for each in ("gate", "up", "down")}
    names |= {f"layers.0.{each}_layernorm.weight" for each in ("input", "post_attention")}
    names |= {"fc.weight", "hidden_norm.weight", "norm.weight"}
    plain = new_block(target().network, 4, 1)
    assert set(plain.state_dict()) == names | {"mask_embedding"}
    spark = {"markov_head.markov_w1.weight", "markov_head.markov_w2.weight"}
    spark |= {"confidence_head.proj.weight", "confidence_head.proj.bias"}
    both = new_block(target().network, 4, 1, Variant(markov=3, confidence=True))
    assert set(both.state_dict()) - set(plain.state_dict()) == spark


@pytest.mark.parametrize("which", KINDS)
def test_a_folder_gives_the_same_network(which, tmp_path):
    network = drafter(which).network
    save_block(network, tmp_path)
    again = load_block(tmp_path, target().network)
    assert (again.block, again.sources, again.variant) == (network.block, network.sources, network.variant)
    for name, weight in again.state_dict().items():
        assert torch.equal(weight, network.state_dict()[name].bfloat16().float())
    config = tmp_path / "config.json"
    about = json.loads(config.read_text())
    for change, said in (
        ({"dflash_config": {}}, "lacks target_layer_ids"),
        ({"block_size": None}, "lacks block_size"),
        ({"hidden_size": 64}, "made for"),
        ({"intermediate_size": 8}, "size mismatch for layers.0.mlp"),
    ):
        config.write_text(json.dumps(about | change))
        with pytest.raises(BadInput, match=said):
            load_block(tmp_path, target().network)


def test_the_shipped_drafter_is_as_good_as_promised():
    about = json.loads((SHIPPED / "train.json").read_text(encoding="utf-8"))
    assert about["overlap"]["block"][0] >= about["overlap"]["drafter"]
    assert pair(None, "block", "cpu")[1].name == "block"
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 12e6


def test_losses_favour_the_first_tokens_and_confidence_learns_the_overlap():
    network, whole = new_block(near().network, 5, 1, Variant(confidence=True)), near().network
    batch = torch.tensor([[1, 2, 3, 4, 5, 6, 7, 8]] * 2)
    drafted = drawn_blocks(network, whole, batch)
    rows = torch.zeros_like(drafted.rows)
    first = drafted._replace(rows=rows.index_copy(2, torch.tensor([0]), drafted.rows[:, :, :1]))
    last = drafted._replace(rows=rows.index_copy(2, torch.tensor([3]), drafted.rows[:, :, 3:]))
    only = [each._replace(confidence=None) for each in (first, last)]
    assert block_loss(only[0], 0.5) > 3 * block_loss(only[1], 0.5) > 0
    loss = block_loss(drafted, 2.0)
    loss.backward()
    for name, weight in network.named_parameters():
        assert weight.grad.abs().sum() > 0, name
