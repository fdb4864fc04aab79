"""Published drafters give the reference implementations' own logits, and decode losslessly."""
# ruff: noqa: E402

import json
from copy import deepcopy
from dataclasses import replace
from unittest import mock

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file

from draftproof.gpu.drafters import choose
from draftproof.gpu.drafters.block_diffusion import BlockNetwork, BlockSession
from draftproof.gpu.drafters.block_layouts import load_block
from draftproof.gpu.drafters.dflash2 import CandidateSelector, GroupedConvolution
from draftproof.gpu.drafters.eagle3 import Eagle3Head, ParallelSession
from draftproof.gpu.drafters.markov import MarkovHead, RefinerHead
from draftproof.gpu.drafters.mtp import MtpHead
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import texts
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from draftproof.theory.errors import BadInput
from studies.train_pair import new_block, save_block
from tests.gpu.drafters import layouts
from tests.gpu.drafters import reference as ref


def drafter(folder, of=None):
    """The drafter in a folder, as the commands load it."""
    of = of or ref.target()
    return choose.published(folder, of, str(folder))


def law(made, tokens, verifier="block", spelling="chain:3", of=None, **options):
    """Texts of three prompts by a drafter, or by plain decoding."""
    steps = generate(
        of or ref.target(),
        made,
        [[5], [3, 17, 8, 29, 1], [33, 12]],
        verifier=named(verifier),
        structure=structure(spelling) if made else None,
        max_new_tokens=tokens,
        ignore_end=True,
        **options,
    )
    return texts(steps, 3)


@pytest.mark.parametrize(("verifier", "spelling"), [("block", "chain:3"), ("traversal", "tree:2x2")])
def test_greedy_texts_are_the_targets_own(tmp_path, verifier, spelling):
    folder = ref.written(tmp_path, *ref.eagle3(ref.target(), ref.IDS))
    plain, drafted = (
        law(each, 12, verifier, spelling, sampling=Sampling(0.0)) for each in (None, drafter(folder))
    )
    assert drafted == plain


def test_drafted_tokens_are_those_that_d2t_names(tmp_path):
    made = drafter(ref.written(tmp_path, *ref.eagle3(ref.target(), ref.IDS)))
    rows = ref.drafted(made)
    assert (rows.isfinite().all(0).nonzero()[:, 0] == ref.IDS).all()
    assert not hasattr(made.head, "embed_tokens")


def changed(weights, key):
    """Checkpoints that cannot be loaded."""
    made = dict(weights)
    if key == "lost":
        del made["midlayer.hidden_norm.weight"]
    elif key == "unknown":
        made["midlayer.gate.weight"] = torch.zeros(2)
    elif key == "shape":
        made["fc.weight"] = made["fc.weight"][:, :32]
    elif key == "ids":  # d2t as ids, not as distances
        made["d2t"] = ref.IDS
    elif key == "maps":
        made["t2d"] = made["t2d"].roll(1)
    elif key == "d2t":
        del made["d2t"]
    return made


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("lost", "the checkpoint lacks weights: midlayer.hidden_norm.weight$"),
        ("unknown", "the checkpoint has unknown weights: midlayer.gate.weight$"),
        ("shape", r"size mismatch for fc.weight: .* torch.Size\(\[32, 32\]\) .* torch.Size\(\[32, 96\]\)"),
        ("ids", "d2t does not name 24 different tokens of the target's 40$"),
        ("maps", "t2d and d2t name different tokens$"),
        ("d2t", r"the checkpoint lacks weights: d2t \(24 tokens of the target's 40\)$"),
    ],
)
def test_what_cannot_be_loaded_is_named(tmp_path, what, says):
    about, weights = ref.eagle3(ref.target(), ref.IDS)
    with pytest.raises(BadInput, match=says):
        drafter(ref.written(tmp_path, about, changed(weights, what)))


def test_a_config_that_lacks_keys_and_an_unknown_kind_are_bad_input(tmp_path):
    about = {"dflash_config": {}, "block_size": 4}
    with pytest.raises(BadInput, match=r"config\.json lacks target_layer_ids$"):
        drafter(ref.written(tmp_path, about, {"fc.weight": torch.zeros(2)}))
    kinds = "eagle3, peagle, dflash, dflash2, dspark, xpress, mtp"
    with pytest.raises(BadInput, match=f"^speculators_model_type medusa: {kinds} can be loaded$"):
        choose.kind({"speculators_model_type": "medusa"})


def test_heads_of_other_kinds_are_refused_by_name(tmp_path):
    about, weights = ref.eagle3(ref.target(), ref.IDS)
    with pytest.raises(BadInput, match=r"multi-head latent attention \(kv_lora_rank\) cannot be loaded$"):
        drafter(ref.written(tmp_path, about | {"kv_lora_rank": 8}, weights))
    entry, of = ENTRIES["DeepSpec, DSpark, RNN"], layouts.target("qwen3")
    refused = {
        "markov_head_type": ("lstm", "vanilla, gated, rnn"),
        "projector_type": ("domino", "dspark, none"),
    }
    for setting, (value, loaded) in refused.items():
        changed = entry | {"config": entry["config"] | {setting: value}}
        with pytest.raises(BadInput, match=f"{setting} {value}: {loaded} can be loaded$"):
            choose.published(layouts.saved(tmp_path / setting, changed), of, value)
    changed = json.loads(json.dumps(entry).replace(f'"mask_token_id": {layouts.MASK}', '"mask_token_id": -1'))
    assert changed != entry
    with pytest.raises(BadInput, match=f"mask_token_id -1: not one of {layouts.VOCAB} tokens$"):
        choose.published(layouts.saved(tmp_path / "mask", changed), of, "mask")


def turns(network):
    """Types and values of the frequencies by which a network's positions turn."""
    found = [each for name, each in network.named_buffers() if name.endswith("inv_freq")]
    return [(each.dtype, each.tolist()) for each in found]


def test_rotary_frequencies_of_a_loaded_drafter_stay_in_float32(tmp_path):
    target = deepcopy(ref.target().network).bfloat16()
    made = new_block(target, 4, 1)
    save_block(made, tmp_path)
    loaded = load_block(tmp_path, target)
    assert {each.dtype for each in loaded.parameters()} == {torch.bfloat16}
    assert turns(loaded) == turns(made) != []
    assert turns(loaded.bfloat16()) != turns(made) != turns(loaded.float())


ENTRIES = json.loads(layouts.FILE.read_text(encoding="utf-8"))


def difference(tmp_path, name):
    """The largest difference between our logits and the reference's, which layouts.json has."""
    entry = ENTRIES[name]
    folder, of = layouts.saved(tmp_path, entry), layouts.target(entry["target"])
    rows = [[-torch.inf if each is None else each for each in row] for row in entry["logits"]]
    chance = entry["confidence"] and torch.tensor(entry["confidence"])
    with torch.no_grad():
        return layouts.compared(layouts.ours(folder, of, len(rows)), torch.tensor(rows), chance)


@pytest.mark.parametrize("name", layouts.LAYOUTS)
def test_logits_are_those_that_the_reference_gave(tmp_path, name):
    assert difference(tmp_path, name) < 1e-5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", layouts.LAYOUTS)
def test_references_give_what_is_recorded(name):
    module = {"z-lab": "dflash", "speculators": "speculators"}.get(name.split(",")[0])
    if module:
        pytest.importorskip(module)
    with torch.no_grad():
        worst, _, entry = layouts.run(name)
    assert worst < 1e-5
    assert {key: each for key, each in entry.items() if key not in ("logits", "confidence")} == {
        key: each for key, each in ENTRIES[name].items() if key not in ("logits", "confidence")
    }


def swapped(own):
    """Takes embeddings for features."""
    return lambda self, embedded, feature, *rest, **more: own(self, feature, embedded, *rest, **more)


def earlier(own):
    """Reads the hidden states of the layers before."""
    return lambda self, hidden: own(self, [hidden[0], *hidden[:-1]])


def unwindowed(own):
    """Sees the whole text in every layer."""
    return property(lambda self: dict.fromkeys(own.fget(self)))


def unscored(own):
    """Leaves out what the token before says of the candidates."""
    return lambda self, logits, states, before: own(self, logits, 0 * states, before)


def shifted(own):
    """Convolves with the place after, not the one before."""
    return lambda self, states, deltas, side: own(self, states.flip(1), deltas.flip(1), side).flip(1)


def unbounded(own):
    """Leaves the logits as the head gives them."""
    return lambda self, states, head: getattr(self, "lm_head", head)(states)


def forgetful(own):
    """Gives every row the memory of the first."""
    return lambda self, states, before, memory: own(self, states, before, 0 * memory)


def ungated(own):
    """Leaves out the states."""
    return lambda self, states, before, memory: own(self, 0 * states, before, memory)


def unmasked(own):
    """Reads nothing in place of the mask."""

    def root(self):
        self.mask = 0 * self.mask
        return own(self)

    return root


def unlearned(own):
    """Reads masks as if they came after hidden states of zero."""
    return lambda self, joined: own(self, joined * (joined.shape[1] > 1))


def late(own):
    """Puts masks one place after their own."""

    def root(self):
        read = self.reader.forward
        with mock.patch.object(self.reader, "forward", lambda size, at, **given: read(size, at + 1, **given)):
            return own(self)

    return root


def bare(own):
    """Has zeros in place of masks."""
    return lambda self, *given: own(self, *given) * (torch.arange(self.block) < 1)[:, None]


def moved(own):
    """Puts the block one place after its own."""

    def root(self):
        self.levels = self.levels + 1
        return own(self)

    return root


def local(own):
    """Sees its own place alone, not the whole block."""
    return lambda self, states: own(self, states.flatten(0, 1)[:, None]).view(*states.shape[:2], -1)


def unanchored(own):
    """Takes the anchor for the token before it."""
    return lambda self, states, last: own(self, states, last[:, 1:].expand(-1, 2))


def unnormed(own):
    """Reads the target's states as they are before its last norm; their length does not matter."""
    return lambda self, hidden: own(self, hidden) / layouts.target("qwen3").network.model.norm.weight


def crossed(own):
    """Puts the feature before the embedding."""

    def first(self, layer, *given):
        project = layer.input_proj.forward
        swap = lambda joined: project(joined.roll(joined.shape[-1] // 2, -1))  # noqa: E731
        with mock.patch.object(layer.input_proj, "forward", swap):
            return own(self, layer, *given)

    return first


def without(name):
    """Leaves out a norm."""

    def flaw(own):
        def first(self, layer, *given):
            with mock.patch.object(layer.get_submodule(name), "forward", lambda states: states):
                return own(self, layer, *given)

        return first

    return flaw


def unfinished(own):
    """Leaves out the last norm."""

    def forward(self, *given, **more):
        with mock.patch.object(self.decoder.norm, "forward", lambda states: states):
            return own(self, *given, **more)

    return forward


def recycled(own):
    """Takes the output before the last norm for the next feature, not the one after it."""

    def forward(self, *given, **more):
        if self.traits:
            self.traits, self.lm_head = frozenset(), torch.nn.Sequential(self.decoder.norm, self.lm_head)
        return own(self, *given, **more)

    return forward


def behind(own):
    """Reads every feature with the token at its own place, not the one after it."""
    return lambda self, embedded, *given, **more: own(self, embedded.roll(1, 1), *given, **more)


def ahead(own):
    """Puts drafted tokens one place after their own."""

    def forward(self, embedded, feature, attention_mask, position_ids, **more):
        drafted = embedded.shape[1] == 1
        return own(self, embedded, feature, attention_mask, position_ids + drafted, **more)

    return forward


BROKEN = [
    (MtpHead, "fused", earlier, "speculators, MTP"),
    (MtpHead, "fused", unnormed, "speculators, MTP"),
    (MtpHead, "_first", crossed, "speculators, MTP"),
    (MtpHead, "_first", without("token_layernorm"), "speculators, MTP"),
    (MtpHead, "_first", without("hidden_layernorm"), "speculators, MTP"),
    (MtpHead, "forward", swapped, "speculators, MTP"),
    (MtpHead, "forward", unfinished, "speculators, MTP"),
    (MtpHead, "forward", recycled, "speculators, MTP"),
    (MtpHead, "forward", behind, "speculators, MTP"),
    (MtpHead, "forward", ahead, "speculators, MTP"),
    (RefinerHead, "forward", forgetful, "speculators, XPress"),
    (RefinerHead, "forward", ungated, "speculators, XPress, anchored, window"),
    (RefinerHead, "seen", local, "speculators, XPress"),
    (BlockNetwork, "opened", unanchored, "speculators, XPress"),
    (BlockNetwork, "opening", bare, "speculators, XPress"),
    (BlockSession, "root", moved, "speculators, XPress"),
    (BlockNetwork, "fused", earlier, "speculators, XPress"),
    (BlockNetwork, "reach", unwindowed, "speculators, XPress, anchored, window"),
    (ParallelSession, "root", unmasked, "speculators, P-EAGLE"),
    (ParallelSession, "root", late, "speculators, P-EAGLE"),
    (Eagle3Head, "mixed", unlearned, "speculators, P-EAGLE"),
    (Eagle3Head, "fused", earlier, "speculators, P-EAGLE, norms, window"),
    (MarkovHead, "forward", forgetful, "DeepSpec, DSpark, RNN"),
    (MarkovHead, "forward", ungated, "DeepSpec, DSpark, gated"),
    (Eagle3Head, "forward", swapped, "EAGLE"),
    (Eagle3Head, "fused", earlier, "EAGLE"),
    (BlockNetwork, "reach", unwindowed, "z-lab, DFlash, window"),
    (BlockNetwork, "reach", unwindowed, "speculators, DFlash, window"),
    (CandidateSelector, "forward", unscored, "z-lab, DFlash 2"),
    (GroupedConvolution, "forward", shifted, "z-lab, DFlash 2"),
    (BlockNetwork, "logits", unbounded, "DeepSpec, DFlash, Gemma 4"),
]


@pytest.mark.parametrize(("owner", "method", "flaw", "name"), BROKEN)
def test_a_head_that_is_run_wrongly_is_noticed(tmp_path, monkeypatch, owner, method, flaw, name):
    monkeypatch.setattr(owner, method, flaw(getattr(owner, method)))
    assert difference(tmp_path, name) > 1e-2


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("z-lab, DFlash", {"config": {"sample_from_anchor": True}}),
        ("z-lab, DFlash, window, whole blocks", {"config": {"is_causal": True}}),
        ("z-lab, DFlash, window", {"config": {"sliding_window": 4}}),
    ],
)
def test_a_setting_that_is_read_wrongly_is_noticed(tmp_path, monkeypatch, name, change):
    entry = ENTRIES[name]
    monkeypatch.setitem(ENTRIES, name, entry | {"config": entry["config"] | change["config"]})
    assert difference(tmp_path, name) > 1e-3


def test_eagle3_weights_keep_their_type_if_the_configuration_names_another(tmp_path, monkeypatch):
    name = "DeepSpec, EAGLE-3"
    entry = ENTRIES[name]
    monkeypatch.setitem(ENTRIES, name, entry | {"config": entry["config"] | {"dtype": "bfloat16"}})
    assert difference(tmp_path, name) < 1e-5


def test_tables_of_the_targets_are_not_held_twice_and_others_are_kept(tmp_path):
    name = "DeepSpec, DFlash"
    folder, of = layouts.saved(tmp_path, ENTRIES[name]), layouts.target("qwen3")
    made = load_block(folder, of.network)
    assert not {"lm_head", "embed_tokens"} & set(dict(made.named_children()))
    weights = {key: each.clone() for key, each in load_file(folder / "model.safetensors").items()}
    weights["lm_head.weight"][3, 0] += 1
    save_file(weights, folder / "model.safetensors")
    made = load_block(folder, of.network)
    assert torch.equal(made.lm_head.weight, weights["lm_head.weight"])


def rows_of_a_tree(made):
    """(rows of the nodes of a tree, rows of the same nodes on chains)."""
    hidden, known = ref.states(made.target, layouts.TEXT[:6]), layouts.TEXT[:7]
    session, words, seen, chains = made.begin([known], 64, hidden), [()], [], []
    session.root()
    for stage in structure("tree:2x3").stages[1:]:
        tokens = torch.arange(3, 3 + len(stage.nodes))[None]
        above = zip(stage.level.above[0].tolist(), tokens[0].tolist(), strict=True)
        words = [(*words[up], token) for up, token in above]
        seen.append(session.extend(tokens, stage.level)[0])
        chains += [ref.drafted(made, [*known, *word], 7)[-1] for word in words]
    return torch.cat(seen), torch.stack(chains)


@pytest.mark.parametrize("name", ["DeepSpec, DSpark, RNN", "speculators, XPress"])
def test_the_memory_of_a_head_is_that_of_the_nodes_own_path(tmp_path, monkeypatch, name):
    made = choose.published(layouts.saved(tmp_path, ENTRIES[name]), layouts.target("qwen3"), name)
    rows, chains = rows_of_a_tree(made)
    assert torch.allclose(rows, chains, atol=1e-5)
    own = BlockSession.extend  # with the memory of another parent
    monkeypatch.setattr(
        BlockSession, "extend", lambda self, ids, at: own(self, ids, replace(at, above=at.above.flip(1)))
    )
    assert not torch.allclose(rows_of_a_tree(made)[0], chains, atol=1e-2)


@pytest.mark.parametrize(("verifier", "spelling"), [("block", "chain:4"), ("traversal", "tree:2x2")])
@pytest.mark.parametrize(
    "name",
    [
        "DeepSpec, DSpark",
        "DeepSpec, DSpark, RNN",
        "z-lab, DFlash 2",
        "speculators, DSpark, own vocabulary",
        "speculators, P-EAGLE",
        "speculators, XPress",
        "speculators, MTP",
        "speculators, MTP, Qwen3.5, experts",
    ],
)
def test_greedy_texts_with_these_drafters_are_the_targets_own(tmp_path, name, verifier, spelling):
    of = layouts.target("qwen3")
    made = choose.published(layouts.saved(tmp_path, ENTRIES[name]), of, name)
    plain, drafted = (
        law(each, 12, verifier, spelling, of=of, sampling=Sampling(0.0)) for each in (None, made)
    )
    assert drafted == plain


@pytest.mark.parametrize(
    "name",
    [
        "speculators, P-EAGLE, norms, window",
        "speculators, XPress",
        "speculators, XPress, anchored, window",
        "speculators, MTP",
        "speculators, MTP, Qwen3-Next",
    ],
)
def test_rows_of_every_step_are_those_of_a_drafter_that_begins_there(tmp_path, name):
    of = layouts.target("qwen3")
    made = choose.published(layouts.saved(tmp_path, ENTRIES[name]), of, name)
    prompts, counts = [[5, 9], [3, 17, 8, 29, 1], [33, 12, 4]], set()
    how = {"verifier": named("block"), "structure": structure("chain:4"), "ignore_end": True}
    so_far = [list(prompt) for prompt in prompts]
    for step in generate(of, made, prompts, max_new_tokens=12, sampling=Sampling(0.7), **how):
        for place, row in enumerate(step.rows):
            text = so_far[row]
            rows = ref.drafted(made, [*text, *step.draft.tokens[place, :-1].tolist()], len(text))
            assert torch.allclose(step.draft.proposal[place], Sampling(0.7).rows(rows), atol=1e-5)
            text += step.emitted[place]
        counts |= set(step.accepted)
    assert len(counts) > 1


def test_heads_for_multi_token_prediction_that_cannot_be_loaded_are_named(tmp_path):
    entry, of = ENTRIES["speculators, MTP"], layouts.target("qwen3")
    layer = entry["config"]["transformer_layer_config"]
    types = "qwen3, qwen3_next, qwen3_5_text, qwen3_5_moe_text"
    norm, head = "mtp_layers.0.final_layernorm.weight", {"lm_head.weight": [layouts.VOCAB, ref.HIDDEN]}
    for key, change, says in (
        ("config", {"num_nextn_predict_layers": 2}, "num_nextn_predict_layers 2: 1 can be loaded$"),
        (
            "config",
            {"transformer_layer_config": layer | {"model_type": "llama"}},
            f"layers of type llama: {types} can be loaded$",
        ),
        (
            "config",
            {"transformer_layer_config": layer | {"hidden_size": 16}},
            "made for a target of hidden size 16, not 32$",
        ),
        ("shapes", {norm.replace("final", "last"): [32]}, "has unknown weights: mtp_layers.0.last_layernorm"),
        ("shapes", head, "has unknown weights: lm_head.weight$"),
    ):
        changed = entry | {key: entry[key] | change}
        with pytest.raises(BadInput, match=says):
            choose.published(layouts.saved(tmp_path, changed), of, key)
    kept = {key: shape for key, shape in entry["shapes"].items() if key != norm}
    with pytest.raises(BadInput, match=f"the checkpoint lacks weights: {norm}$"):
        choose.published(layouts.saved(tmp_path, entry | {"shapes": kept}), of, "norm")


def test_a_parallel_head_needs_its_mask_and_a_number_of_tokens(tmp_path):
    entry, of = ENTRIES["speculators, P-EAGLE"], layouts.target("qwen3")
    for key, value, says in (
        ("mask_token_id", None, r"config\.json lacks mask_token_id$"),
        (
            "mask_token_id",
            layouts.VOCAB,
            f"mask_token_id {layouts.VOCAB}: not one of {layouts.VOCAB} tokens$",
        ),
        ("speculators_config", {"proposal_methods": []}, "speculators_config tells no number of tokens: "),
    ):
        changed = entry | {"config": entry["config"] | {key: value}}
        with pytest.raises(BadInput, match=says):
            choose.published(layouts.saved(tmp_path, changed), of, key)
    made = choose.published(layouts.saved(tmp_path, entry), of, "peagle")
    with pytest.raises(BadInput, match=r"peagle drafts 4 tokens on a path at most, not chain:5$"):
        law(made, 4, spelling="chain:5", of=of)
    how = layouts.proposals("peagle", 1)
    one = layouts.saved(tmp_path, entry | {"config": entry["config"] | how})
    plain, drafted = (
        law(each, 5, spelling="chain:1", of=of, sampling=Sampling(0.0))
        for each in (None, choose.published(one, of, "one"))
    )
    assert drafted == plain
