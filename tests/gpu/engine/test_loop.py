"""The loop: greedy decoding is the target's own; the rows seen are those of no cache at all."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu import kernels
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import texts
from draftproof.gpu.engine.parts import Noise
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import VERIFIERS, named
from draftproof.theory.errors import BadInput
from tests.gpu.small import CONTEXT, END, PROMPTS, Numbers, drafter, network, steps_of, target

USUAL = {
    "chain:4": "block",
    "paths:3x3": "traversal",
    "paths+:2x3": "specinfer",
    "tree:2x2": "traversal",
    "tree:[[[],[]],[[]],[]]": "rrs",
    "top-k:3x4x9": "one-hot",
}
"""Structures, each with a verifier for it."""

FITTING = [
    *[
        (name, spelling, "near")
        for spelling in USUAL
        for name in VERIFIERS
        if structure(spelling).kind in VERIFIERS[name].drafts
    ],
    *[(name, spelling, which) for spelling, name in USUAL.items() for which in ("same", "features")],
    ("one-hot", "top-k:8x6x1", "near"),  # one node of many that the drafter reads
    *[(name, "chain:3", "ngram") for name in ("block", "token", "one-hot", "nss")],
]


def run(verifier, spelling, which, prompts=PROMPTS, **options):
    steps = steps_of(verifier, spelling, which, prompts, **options)
    return texts(steps, len(prompts)), steps


@pytest.fixture(scope="module")
def own():
    """What the target itself says, greedily."""
    said = []
    for prompt in PROMPTS:
        answer = target().network.generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=24,
            do_sample=False,
            eos_token_id=END,
            pad_token_id=END,
        )
        said.append(answer[0, len(prompt) :].tolist())
    return said


def test_the_targets_own_texts_end_at_different_times(own):
    assert len({len(text) for text in own}) > 1


@pytest.mark.parametrize(("verifier", "spelling", "which"), FITTING)
@pytest.mark.sampled(3)
def test_greedy_decoding_is_the_targets_own(own, verifier, spelling, which):
    said, steps = run(verifier, spelling, which, sampling=Sampling(0.0), max_new_tokens=24)
    assert said == own
    if which == "same" and spelling == "chain:4":
        assert {count for step in steps for count in step.accepted} == {4}


@pytest.mark.parametrize("spelling", USUAL)
@pytest.mark.parametrize("which", ["near", "features"])
@pytest.mark.sampled(2)
def test_rows_are_those_without_any_cache(spelling, which):
    sampling = Sampling(0.8, top_k=20)
    _, steps = run(USUAL[spelling], spelling, which, sampling=sampling, max_new_tokens=12, ignore_end=True)
    so_far = [list(prompt) for prompt in PROMPTS]
    assert any(sum(step.accepted) for step in steps)
    for step in steps:
        parents = step.draft.tree.parents.expand(len(step.rows), -1).tolist()
        drawn = step.draft.tree.drawn(step.draft.tokens).tolist()
        for place, row in enumerate(step.rows):
            words = [so_far[row]]
            for node, parent in enumerate(parents[place][1:], 1):
                words.append([*words[parent], step.draft.tokens[place, node - 1].item()])
            for node, word in enumerate(words):
                if not drawn[place][node]:
                    continue
                assert_row(step.drafts.target[place, node], target(), word, sampling)
                below = zip(parents[place], drawn[place], range(step.draft.tree.size), strict=True)
                used = any(up == node and there and child for up, there, child in below)
                if which == "near" and step.draft.proposal is not None and used:
                    index = step.draft.tree.rows.expand(len(step.rows), -1)[place, node]
                    assert_row(step.draft.proposal[place, index], drafter("near").model, word, sampling)
        for row, tokens in zip(step.rows, step.emitted, strict=True):
            so_far[row] += tokens


def assert_row(row, model, word, sampling):
    with torch.no_grad():
        logits = model.network(input_ids=torch.tensor([word]), use_cache=False).logits[0, -1]
    assert torch.allclose(row, sampling.rows(logits), atol=2e-4)


def test_feature_rows_are_those_of_the_head_run_without_any_cache():
    """There is no feature before the first token, which is left out."""
    head, network, sampling = drafter("features").head, target().network, Sampling()
    _, steps = run("block", "chain:3", "features", prompts=PROMPTS[1:2], max_new_tokens=16, ignore_end=True)
    text = list(PROMPTS[1])
    for step in steps:
        with torch.no_grad():
            hidden = network(
                input_ids=torch.tensor([text]), use_cache=False, output_hidden_states=True
            ).hidden_states
            feature, word = head.fused(hidden)[:, :-1], text[1:]
            for k in range(3):
                embedded = network.get_input_embeddings()(torch.tensor([word]))
                size = len(word)
                causal = torch.ones(1, 1, size, size, dtype=torch.bool).tril()
                out = head(embedded, feature, causal, torch.arange(size)[None])
                row = sampling.rows(head.logits(out)[0, -1])
                assert torch.allclose(step.draft.proposal[0, k], row, atol=2e-4)
                word.append(step.draft.tokens[0, k].item())
                feature = torch.cat([feature, out[:, -1:]], 1)
        text += step.emitted[0]


@pytest.mark.parametrize("spelling", ["chain:3", "paths:2x2", "top-k:2x3x5"])
def test_a_rows_text_does_not_depend_on_its_batch(spelling):
    verifier = "one-hot" if spelling.startswith("top") else "traversal"
    together, _ = run(verifier, spelling, "near", max_new_tokens=12)
    seeds = [100, 101, 102]
    batch, _ = run(verifier, spelling, "near", max_new_tokens=12, seed=seeds)
    for row, prompt in enumerate(PROMPTS):
        alone, _ = run(verifier, spelling, "near", prompts=[prompt], max_new_tokens=12, seed=[seeds[row]])
        assert batch[row] == alone[0]
    again, _ = run(verifier, spelling, "near", max_new_tokens=12)
    assert again == together
    other, _ = run(verifier, spelling, "near", max_new_tokens=12, seed=1)
    assert other != together


def test_plain_decoding_takes_one_token_a_step(own):
    said, steps = run("block", "", None, sampling=Sampling(0.0), max_new_tokens=24)
    assert said == own
    assert {len(tokens) for step in steps for tokens in step.emitted} == {1}


def test_a_row_ends_at_its_stop_string_its_length_or_the_context(own):
    stop = f" {own[2][5]} "
    said, steps = run("block", "chain:4", "same", sampling=Sampling(0.0), max_new_tokens=24, stop=[stop])
    joined = " ".join(map(str, said[2]))
    assert stop in joined
    assert stop not in " ".join(map(str, said[2][:-1]))
    long = [1 + i % 30 for i in range(CONTEXT - 3)]
    said, steps = run("block", "chain:4", "near", prompts=[long], max_new_tokens=24, ignore_end=True)
    assert len(said[0]) == 3
    assert steps[-1].finished == ["length"]


@pytest.mark.parametrize(
    ("verifier", "spelling", "which", "prompts", "said"),
    [
        ("block", "chain:2", "near", [[]], "the prompt is empty"),
        ("block", "chain:2", "near", [[1], []], "prompt 2 is empty"),
        ("block", "chain:2", "near", [], "there is no prompt"),
        ("block", "chain:2", "near", [[1] * CONTEXT], "the prompt has 96 tokens; target takes 96"),
        ("block", "tree:2x2", "near", PROMPTS, "block is made for chain, not for tree:2x2"),
        ("traversal", "top-k:2x2x3", "near", PROMPTS, "not for top-k:2x2x3 (deterministic)"),
        ("one-hot", "tree:2x2", "ngram", PROMPTS, "ngram drafts chains"),
    ],
)
def test_what_does_not_fit_is_bad_input(verifier, spelling, which, prompts, said):
    with pytest.raises(BadInput, match=said.replace("(", r"\(").replace(")", r"\)")):
        run(verifier, spelling, which, prompts=prompts)


def test_logits_that_are_no_numbers_end_the_run_with_what_was_said():
    net = network(32, 2, 5)
    broken = Model("broken", net, Numbers(), 40, CONTEXT)
    steps = generate(broken, None, [[1, 2]], verifier=named("block"), structure=None, ignore_end=True)
    assert next(steps).emitted[0]
    with torch.no_grad():
        net.lm_head.weight[3] = torch.nan
    with pytest.raises(BadInput, match="invalid row"):
        next(steps)


def test_the_noise_of_a_row_does_not_depend_on_the_batch():
    both, alone = (Noise(7, range(rows), torch.device("cpu")) for rows in (2, 1))
    assert torch.equal(both.uniforms(3)[:1], alone.uniforms(3))


def test_the_noise_is_that_of_seed_prompt_and_position():
    whole, late = Noise(7, range(3), torch.device("cpu")), Noise([7, 9], [0, 1], torch.device("cpu"))
    first = whole.uniforms(5)
    assert first.dtype == torch.float64
    assert torch.equal(first[0], late.uniforms(5)[0])  # seed and prompt of both are (7, 0)
    whole.advance([2, 1, 0], torch.tensor([2, 1, 0]))
    second = whole.uniforms(5)
    assert torch.equal(first[2], second[2])
    assert not (first[:2] == second[:2]).any()
    whole.keep([1])
    whole.advance([4], torch.tensor([4]))
    again = Noise(7, [1], torch.device("cpu"))
    again.advance([5], torch.tensor([5]))
    assert torch.equal(whole.uniforms(2), again.uniforms(2))


def test_the_noise_made_on_a_device_is_the_hosts(monkeypatch):
    pytest.importorskip("triton", reason="the kernels need Triton")
    if torch.cuda.is_available():
        pytest.skip("kernels take no tensors on the CPU there")
    host = Noise(7, range(2), torch.device("cpu"))
    monkeypatch.setattr(kernels, "compiled_for", lambda device: True)
    there = Noise(7, range(2), torch.device("cpu"))
    for each in (host, there):
        each.advance([3, 1], torch.tensor([3, 1]))
        each.keep([1, 0])
    assert torch.equal(host.uniforms(9), there.uniforms(9))
