"""Processors with drafts: greedy texts are transformers' own, and the law is that of processed rows."""
# ruff: noqa: E402

import itertools
from collections import Counter
from functools import cache

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.checks.models.greedy import Reference, compare
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import texts
from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from draftproof.theory.errors import BadInput
from draftproof.theory.targets.processors import Mask
from tests.gpu.engine.test_law import LENGTH, PROMPT, VOCAB, agreement, exact, other, target  # noqa: F401
from tests.gpu.engine.test_loop import USUAL
from tests.gpu.parameters import SETS, processors
from tests.gpu.small import PROMPTS, drafter, steps_of
from tests.gpu.small import VOCAB as WORDS
from tests.gpu.small import target as small

TOKENS = 16


@cache
def reference(name):
    """transformers' own greedy texts with these processors; with none for the name None."""
    return Reference(small(), PROMPTS, TOKENS, processors(**SETS[name]) if name else ())


FEW = [(name, "chain:4", "near") for name in SETS]
MANY = [one for one in itertools.product(SETS, USUAL, ("near", "same", "features")) if one not in FEW]


@pytest.mark.parametrize(
    ("name", "spelling", "which"), [*FEW, *(pytest.param(*one, marks=pytest.mark.slow) for one in MANY)]
)
def test_greedy_texts_are_transformers_own_without_a_draft(name, spelling, which):
    """The drafted prefix is in the history of every row."""
    own = reference(name)
    assert own.texts != reference(None).texts
    found = compare(own, decoding(drafter(which), USUAL[spelling], spelling))
    assert not found.ties
    assert found.tokens == sum(map(len, own.texts))


def decoding(drafts, verifier, spelling, **more):
    def decode(prompts, **options):
        return generate(
            small(),
            drafts,
            prompts,
            verifier=named(verifier),
            structure=structure(spelling),
            **options,
            **more,
        )

    return decode


@pytest.mark.parametrize("name", ["repetition", "frequency", "bad words", "grammar", "function"])
def test_rows_without_the_drafted_prefix_are_found_out(monkeypatch, name):
    own, made = reference(name), History._made
    monkeypatch.setattr(History, "_made", lambda self, sampling, logits, words: made(
        self, sampling, logits, words[..., :0]))  # fmt: skip
    found = compare(own, decoding(drafter("same"), "token", "chain:4"))
    assert not found.ok


@pytest.mark.parametrize("name", ["repetition", "frequency", "bad words", "grammar"])
def test_a_history_with_another_token_is_found_out(monkeypatch, name):
    own, add = reference(name), History.add
    monkeypatch.setattr(
        History,
        "add",
        lambda self, words: add(self, torch.where((words == words[:, :1]) & (words >= 0), 1, words)),
    )
    try:
        found = compare(own, decoding(drafter("near"), "token", "chain:4"))
    except BadInput:
        return
    assert not found.ok


@pytest.mark.parametrize(
    "spelling", [each if each == "tree:2x2" else pytest.param(each, marks=pytest.mark.slow) for each in USUAL]
)
def test_processors_on_one_side_only(spelling):
    """On the target alone the text is the same; on the proposal alone the processors change no text."""
    drafts, verifier = drafter("near"), USUAL[spelling]
    alone, proposal = Sampling(0.0), Sampling(0.5, processors=processors(**SETS["all"]))
    on_target = decoding(drafts, verifier, spelling, draft_sampling=alone)
    assert not compare(reference("all"), on_target).ties
    on_proposal = decoding(drafts, verifier, spelling, draft_sampling=proposal)
    assert not compare(reference(None), on_proposal).ties


LAW = {
    "repetition_penalty": 1.4,
    "presence_penalty": 0.6,
    "frequency_penalty": 0.7,
    "logit_bias": {4: 0.5},
    "bad_words_ids": [[3, 1]],
    "grammar": Mask(
        "a", {"a": {"0": "a", "1": "b", "2": "a", "3": "b"}, "b": {"1": "a", "4": "b", "0": "b"}}
    ),
}
ASKED = Sampling(1.0, min_p=0.01, processors=processors(**LAW))


def allowed(_, ids):
    """The tokens that the grammar of LAW has after the prompt."""
    mask = LAW["grammar"]
    state = mask.start
    for token in ids[len(PROMPT) :].tolist():
        state = mask.edges[state][str(token)]
    return [int(token) for token in mask.edges[state]]


def penalised(ids, scores):
    """Presence and frequency penalty, token by token."""
    scores = scores.clone()
    for row, text in zip(scores, ids[:, len(PROMPT) :].tolist(), strict=True):
        for token, count in Counter(text).items():
            row[token] -= LAW["presence_penalty"] + count * LAW["frequency_penalty"]
    return scores


def processed_law(target):  # noqa: F811
    """The law of the first tokens: every word's rows by transformers' processors, one text at a time."""
    from transformers import LogitsProcessorList
    from transformers.generation import logits_process as of

    every = LogitsProcessorList(
        [
            of.SequenceBiasLogitsProcessor({(token,): bias for token, bias in LAW["logit_bias"].items()}),
            of.RepetitionPenaltyLogitsProcessor(LAW["repetition_penalty"]),
            penalised,
            of.NoBadWordsLogitsProcessor(LAW["bad_words_ids"]),
            of.PrefixConstrainedLogitsProcessor(allowed, 1),
            of.MinPLogitsWarper(0.01),
        ]
    )
    law = {(): 1.0}
    for _ in range(LENGTH):
        longer = {}
        for word, mass in law.items():
            ids = torch.tensor([[*PROMPT, *word]])
            with torch.no_grad():
                scores = target.network(input_ids=ids, use_cache=False).logits[:, -1]
            row = every(ids, scores).softmax(-1)[0].double()
            longer |= {(*word, x): mass * float(row[x]) for x in row.nonzero().flatten().tolist()}
        law = longer
    words = itertools.product(range(VOCAB), repeat=LENGTH)
    return torch.tensor([law.get(word, 0.0) for word in words]).numpy()


@pytest.mark.parametrize(
    ("verifier", "spelling", "on_drafts"),
    [
        ("block", "chain:3", False),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in (
                ("token", "chain:3", True),
                ("traversal", "paths:2x2", True),
                ("rrs", "tree:2x2", False),
                ("one-hot", "top-k:2x3x4", True),
            )
        ),
    ],
)
def test_the_joint_law_is_that_of_processed_rows(target, verifier, spelling, on_drafts):  # noqa: F811
    law = processed_law(target)
    assert (law == 0).any()
    draft = None if on_drafts else Sampling(1.2)
    assert agreement(target, law, other(), verifier, spelling, sampling=ASKED, draft_sampling=draft) > 1e-3


@pytest.mark.slow
def test_a_law_of_rows_without_the_drafted_prefix_is_found_out(target, monkeypatch):  # noqa: F811
    made = History._made
    monkeypatch.setattr(History, "_made", lambda self, sampling, logits, words: made(
        self, sampling, logits, words[..., :0]))  # fmt: skip
    law = processed_law(target)
    with pytest.raises(AssertionError):
        assert agreement(target, law, other(), "token", "chain:3", sampling=ASKED) > 1e-6


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"logit_bias": {40: 1.0}}, "SequenceBiasLogitsProcessor fails: The model vocabulary size is 40"),
        ({"bad_words_ids": [[x] for x in range(WORDS)]}, "NoBadWordsLogitsProcessor leaves no token"),
        ({"logit_bias": {x: -float("inf") for x in range(WORDS)}}, "LogitsProcessor leaves no token"),
        (
            {"grammar": Mask("a", {"a": {"1": "a"}}), "bad_words_ids": [[1]]},
            "Grammar leaves no token to go on with",
        ),
        ({"logits_processor": [lambda ids, scores: scores - torch.inf]}, "<lambda> leaves no token"),
        ({"logits_processor": [lambda ids, scores: scores.nothing]}, "<lambda> fails: .* no attribute"),
    ],
)
@pytest.mark.parametrize("spelling", ["chain:2", "top-k:2x2x3"])
def test_what_leaves_nothing_or_does_not_fit_is_bad_input(settings, said, spelling):
    with pytest.raises(BadInput, match=said):
        steps_of(USUAL.get(spelling, "one-hot"), spelling, "near",
                 sampling=Sampling(processors=processors(**settings)), max_new_tokens=4)  # fmt: skip


def test_a_row_is_emptied_only_after_a_word_that_can_be_emitted():
    """Token 3 is forbidden by the first function; the second leaves nothing after it, and is not asked."""
    third = torch.arange(WORDS) == 3

    def forbidden(ids, scores):
        return scores.masked_fill(third, -torch.inf)

    def nothing_after(ids, scores):
        return scores.masked_fill((ids[:, -1:] == 3), -torch.inf)

    made = processors(logits_processor=[forbidden, nothing_after])
    steps = steps_of("token", "chain:4", "near", [[5]] * 8, sampling=Sampling(3.0, processors=made),
                     draft_sampling=Sampling(3.0, processors=processors(logit_bias={3: 8.0})),
                     max_new_tokens=12, ignore_end=True)  # fmt: skip
    assert any(bool((step.draft.tokens == 3).any()) for step in steps)
    assert not any(3 in text for text in texts(steps, 8))
