"""The second check is quiet on texts that transformers draws as asked, and not on texts drawn otherwise."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.engines import grammar  # noqa: E402
from tests.engines.engine import CHOICE, PAIR, WAYS  # noqa: E402
from tests.engines.independent import LENGTH, PROMPTS, Sampling, allowed, followed, z_values  # noqa: E402

FOLDER = str(PAIR / "target")
QUIET, LOUD, TEXTS = 4.0, 6.0, 400
NAMES = [name for name, way in WAYS.items() if not way.sampling.presence]
"""transformers has no processor for penalties of the text alone."""
OTHER = {
    "T = 0.6": Sampling(),
    "top-k 20": Sampling(top_k=200),
    "top-p 0.8": Sampling(),
    "min-p 0.1": Sampling(),
    "T = 0.6, top-k 20, top-p 0.8": Sampling(temperature=0.6),
    "repetition penalty 1.3": Sampling(),
    "a choice": Sampling(),
}
"""What a server may do instead of what was asked for."""


@pytest.fixture(scope="module")
def model():
    return transformers.AutoModelForCausalLM.from_pretrained(FOLDER, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def tokenizer():
    return transformers.AutoTokenizer.from_pretrained(FOLDER)


def drawn(model, tokenizer, sampling):
    """Texts by `generate`."""
    torch.manual_seed(7)
    spelled = tuple(tokenizer.decode([token]) for token in range(len(tokenizer)))
    found = {}
    for prompt in PROMPTS:

        def follows(_, ids, prompt=prompt):
            return [*allowed(sampling.choice, tuple(ids[len(prompt) :].tolist()), spelled)] or [0]

        texts = model.generate(
            torch.tensor([prompt] * TEXTS),
            do_sample=True,
            max_new_tokens=LENGTH,
            pad_token_id=0,
            temperature=sampling.temperature,
            top_k=sampling.top_k,
            top_p=sampling.top_p,
            min_p=sampling.min_p or None,
            repetition_penalty=sampling.repetition,
            prefix_allowed_tokens_fn=follows if sampling.choice else None,
        )
        found[prompt] = [ended(text[len(prompt) :].tolist()) for text in texts]
    return found


def ended(text):
    return text[: text.index(0) + 1] if 0 in text else text


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_texts_of_the_sampling_are_quiet(model, tokenizer, name):
    sampling = WAYS[name].sampling
    zs, forbidden = z_values(FOLDER, sampling, drawn(model, tokenizer, sampling))
    assert max(map(abs, zs)) < QUIET
    assert forbidden < 0.002


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER)
def test_texts_of_another_sampling_are_not(model, tokenizer, name):
    zs, forbidden = z_values(FOLDER, WAYS[name].sampling, drawn(model, tokenizer, OTHER[name]))
    assert max(map(abs, zs)) > LOUD or forbidden > 0.01


@pytest.mark.parametrize("penalty", ["presence", "frequency"])
def test_penalties_of_the_text(penalty):
    logits = torch.zeros(3)
    law = Sampling(**{penalty: 1.0}).row(logits, (0,), (1, 1), ("a", "b", "c"))
    assert torch.allclose(
        law.log() - law.log()[0], torch.tensor([0.0, -1.0 - (penalty == "frequency"), 0.0]).double()
    )


def test_what_a_choice_allows():
    spelled = ("<end>", "a", "ab", "b", "c", "")
    assert allowed(("ab", "a"), (), spelled) == {1, 2}
    assert allowed(("ab", "a"), (1,), spelled) == {0, 3}
    assert allowed(("ab", "a"), (2,), spelled) == {0}
    assert allowed(CHOICE, (4,), spelled) == frozenset()


def test_what_followed_the_last_token():
    assert followed((5, 1, 5, 2, 5)) == (2,)
    assert followed((5, 1)) == followed((5,)) == followed(()) == ()


@pytest.mark.slow
@pytest.mark.parametrize("twice", [False, True])
def test_noise_that_is_read_twice_is_seen(model, twice):
    torch.manual_seed(7)
    texts, length, known = 100, 12, {}
    ids = torch.tensor([PROMPTS[2]] * texts)
    for _ in range(length):
        with torch.no_grad():
            row = model(ids).logits[:, -1].double() / 0.6
        noise = -torch.rand(row.shape, dtype=torch.float64).log().neg().log()
        for n, token in enumerate(ids[:, -1].tolist()):
            if twice:
                noise[n] = known.setdefault((n, token), noise[n])
        ids = torch.cat([ids, (row + noise).argmax(-1, keepdim=True)], dim=1)
    drawn = {PROMPTS[2]: ids[:, len(PROMPTS[2]) :].tolist()}
    [z], _ = z_values(FOLDER, Sampling(temperature=0.6), drawn, again=True)
    assert z > LOUD if twice else abs(z) < QUIET


@pytest.mark.slow
@pytest.mark.parametrize("dropped", [False, True])
def test_drafts_that_a_grammar_drops_are_seen(dropped):
    torch.manual_seed(7)
    rows, prompt = grammar.Rows(), [675, 645, 400]
    first = rows.p(prompt).multinomial(1_000, replacement=True).tolist()
    each = sorted(set(first))
    laws = dict(zip(each, rows.pairs(prompt, each), strict=True))
    texts = [[token, int(laws[token][dropped].multinomial(1))] for token in first]
    wealth, most, z, count = grammar.judged(rows, {tuple(prompt): texts})
    assert count == 1_000
    assert (most > 7 and z > 4) if dropped else (wealth < 0 and most < 7 and abs(z) < 4)
