"""Whole generation loops: sound ones pass, faults that only a loop can have are seen."""

import math
import random
from typing import Any

import pytest
from flint import fmpq

from draftproof.simulators import audit
from draftproof.simulators.audit.targets import loops
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table

torch = pytest.importorskip("torch")

SMALL: Any = {"vocab": 2, "depth": 1}


def decoded(target, draft, prompt, length, gamma=1, *, keep=0, fresh=True, residual=True):
    """Token verification with caches; `keep` tokens too many stay in the target's, noise is drawn
    once where not `fresh`, and rejections draw from the whole row where not `residual`."""
    ids, cache, noise = prompt, None, torch.rand(gamma, target.rows.vocab)
    while ids.shape[1] < prompt.shape[1] + length:
        start, drafted, rows = ids.shape[1], ids, []
        for at in range(gamma):
            rows.append(draft(drafted, use_cache=False).logits[0, -1].softmax(-1))
            if fresh:
                noise = torch.rand(gamma, target.rows.vocab)
            token = (-noise[at].log() / rows[-1]).argmin()
            drafted = torch.cat([drafted, token.view(1, 1)], 1)
        seen = cache[0][0].shape[2] if cache else 0
        out = target(drafted[:, seen:], past_key_values=cache)
        p = torch.cat([torch.zeros(1, seen, target.rows.vocab), out.logits.softmax(-1)], 1)[0]
        n = 0
        while (
            n < gamma
            and torch.rand(()) < p[start - 1 + n, drafted[0, start + n]] / rows[n][drafted[0, start + n]]
        ):
            n += 1
        row = p[start - 1 + n]
        if n < gamma and residual:
            row = torch.clamp(row - rows[n], min=0)
        ids = torch.cat([drafted[:, : start + n], torch.multinomial(row, 1)[None]], 1)
        cache = tuple(
            (k[:, :, : start + n + keep], v[:, :, : start + n + keep]) for k, v in out.past_key_values
        )
    return ids[0, prompt.shape[1] :]


def sound(target, draft, prompt, length, gamma):
    return decoded(target, draft, prompt, length, gamma)


def test_a_sound_loop_passes():
    report = audit.examine(audit.Loop(sound), **SMALL)
    assert report.lossless, report
    assert report.case is not None
    assert report.case.expected_accepted is None
    assert report.to_dict()["expected_accepted"] is None
    assert "E[tau]" not in str(report)


@pytest.mark.slow
def test_a_sound_loop_passes_at_depth_2():
    assert audit.examine(audit.Loop(sound), vocab=2, depth=2).lossless


def test_a_cache_that_keeps_a_rejected_token_is_seen():
    def stale(target, draft, prompt, length, gamma):
        return decoded(target, draft, prompt, length, gamma, keep=1)

    p = Table.exact(2, {(): ["1/2", "1/2"], (0,): ["1/4", "3/4"], (1,): ["3/4", "1/4"]})
    report = audit.examine(
        audit.Loop(stale), instances=[Instance(p, Table.exact(2, {(): [1, 0]}), Chain(1))], edges=False
    )
    assert report.lossless is False


def in_place(cache_of, keep=0):
    """A loop in today's style: caches of its own that calls extend and `crop` cuts, results by position."""

    def generate(target, draft, prompt, length, gamma=1):
        ids, cache = prompt.to(next(target.eval().parameters()).device), cache_of()
        while ids.shape[1] < prompt.shape[1] + length:
            start, mine, new, rows = ids.shape[1], cache_of(), ids, []
            drafted = ids
            for _ in range(gamma):
                rows.append(draft(new, past_key_values=mine)[0][0, -1].softmax(-1))
                new = torch.multinomial(rows[-1], 1)[None]
                drafted = torch.cat([drafted, new], 1)
            seen = cache.get_seq_length()
            p = target(drafted[:, seen:], past_key_values=cache, logits_to_keep=gamma + 1).logits.softmax(-1)[
                0
            ]
            n = 0
            while n < gamma and torch.rand(()) < p[n, drafted[0, start + n]] / rows[n][drafted[0, start + n]]:
                n += 1
            row = torch.clamp(p[n] - rows[n], min=0) if n < gamma else p[n]
            if (more := cache.get_seq_length() - start - n - keep) > 0:
                cache.crop(-more)
            ids = torch.cat([drafted[:, : start + n], torch.multinomial(row, 1)[None]], 1)
        return ids[0, prompt.shape[1] :]

    return generate


@pytest.mark.parametrize("name", ["Cache", "DynamicCache"])
def test_a_cache_that_calls_extend_is_followed(name):
    from draftproof.simulators.audit.targets import models

    here = models if name == "Cache" else pytest.importorskip("transformers")
    p = Table.exact(2, {(): ["1/2", "1/2"], (0,): ["1/4", "3/4"], (1,): ["3/4", "1/4"]})
    q = Table.exact(2, {(): ["3/4", "1/4"]})
    given: Any = {"instances": [Instance(p, q, Chain(1))], "edges": False, "smallest": False}
    report = audit.examine(audit.Loop(in_place(getattr(here, name))), **given)
    assert report.lossless, report
    assert audit.examine(audit.Loop(in_place(getattr(here, name), keep=1)), **given).lossless is False


@pytest.mark.parametrize("start", [0, 1])
def test_a_loop_that_returns_a_part_of_the_prompt_is_told_so(start):
    def loop(target, draft, prompt, length):
        ids = prompt
        while ids.shape[1] < prompt.shape[1] + length:
            row = target(ids).logits[0, -1].softmax(-1)
            ids = torch.cat([ids, torch.multinomial(row, 1)[None]], 1)
        return ids[0, start:]

    for options in (SMALL, SMALL | {"statistical": True, "runs": 50}):
        with pytest.raises(BadInput, match="returns a part of the prompt"):
            audit.examine(audit.Loop(loop), **options)


def test_a_loop_whose_every_call_raises_is_not_audited():
    def loop(target, draft, prompt, length):
        return target.nothing_of_the_kind()

    with pytest.raises(BadInput, match="not audited: every call of every draft raises: AttributeError"):
        audit.examine(audit.Loop(loop), **SMALL)


def test_a_prompt_among_the_tokens_of_a_row_is_refused():
    def loop(target, draft, prompt, length):
        text = [] if right else prompt[0].tolist()
        for _ in range(length):
            text.append(int(torch.multinomial(target.row(text).softmax(-1), 1)))
        return text[-length:]

    right = True
    assert audit.examine(audit.Loop(loop), **SMALL).lossless
    right = False
    with pytest.raises(BadInput, match=r"model.row\(tokens\) takes the new tokens, without the prompt"):
        audit.examine(audit.Loop(loop), **SMALL)


def test_drafting_noise_that_is_used_in_every_round_is_seen():
    def reused(target, draft, prompt, length):
        return decoded(target, draft, prompt, length, fresh=False)

    report = audit.examine(audit.Loop(reused), **SMALL)
    assert report.lossless is False
    assert report.wrong is not None
    assert len(report.wrong.prefix) > 1  # the first token is right


def test_a_draw_from_the_whole_row_has_its_exact_law():
    def whole(target, draft, prompt, length):
        return decoded(target, draft, prompt, length, residual=False)

    toy = Instance(Table.exact(2, {(): ["1/3", "2/3"]}), Table.exact(2, {(): ["2/3", "1/3"]}), Chain(1))
    report = audit.examine(audit.Loop(whole), instances=[toy], edges=False, smallest=False)
    assert report.wrong is not None
    assert report.wrong.prefix == (0,)
    assert abs(report.wrong.got - fmpq(4, 9)) < fmpq(1, 10**6)


def test_a_swapped_pair_of_models_is_found_and_the_judged_tokens_are_said():
    def swapped(target, draft, prompt, length, gamma):
        return decoded(draft, target, prompt, length, gamma)

    found = audit.examine(audit.Loop(swapped), **SMALL)
    assert found.lossless is False
    assert "judged: the first 2 tokens" in str(found)


def test_a_loop_of_too_many_runs_is_undecided(monkeypatch):
    monkeypatch.setattr(loops, "LOOP_RUNS", 1)
    report = audit.examine(audit.Loop(sound), runs=0, **SMALL)
    assert report.lossless is None
    assert "at most 1 are made" in report.undecided


@pytest.mark.parametrize("right", [True, False])
def test_coins_that_a_loop_needs_as_plain_numbers_are_read_by_bisection(right):
    def plain(target, draft, prompt, length):
        words = []
        while len(words) < length:
            p, q = (model.row(words).softmax(-1).tolist() for model in (target, draft))
            x = int(math.sqrt(torch.rand(()).item()) > math.sqrt(q[0]))
            kept = math.sqrt(torch.rand(()).item()) <= math.sqrt(min(1, p[x] / q[x]))
            words.append(x if kept else 1 - x if right else 0)
        return words

    p, q = Table.exact(2, {(): ["1/4", "3/4"]}), Table.exact(2, {(): ["1/2", "1/2"]})
    report = audit.examine(
        audit.Loop(plain), instances=[Instance(p, q, Chain(1))], edges=False, smallest=False
    )
    assert report.lossless is right
    assert "bisection" in report.adapter


def test_a_loop_whose_coins_cannot_be_followed_is_tested_on_samples():
    hidden = random.Random(1)

    def hides(target, draft, prompt, length, model=0):
        words = []
        while len(words) < length:
            words.append(int(hidden.random() > (target, draft)[model].row(words).softmax(-1)[0]))
        return words

    def biased(target, draft, prompt, length):
        return hides(target, draft, prompt, length, 1)

    right = audit.examine(audit.Loop(hides), statistical=True, runs=200, **SMALL)
    assert (right.lossless, right.to_dict()["expected_accepted"]) == (True, None)
    assert audit.examine(audit.Loop(hides), runs=200, **SMALL).lossless is None
    assert audit.examine(audit.Loop(biased), runs=200, **SMALL).lossless is False


def test_more_tokens_than_asked_for_are_cut_and_fewer_completed():
    def fewer(target, draft, prompt, length):
        return torch.multinomial(target.row([]).softmax(-1), 1)

    def more(target, draft, prompt, length, rng):
        words = []
        while len(words) < length + 2:
            row = target.row(words).softmax(-1).double()
            words.append(int(rng.choice(2, p=(row / row.sum()).numpy())))
        return words

    def garbage(target, draft, prompt, length):
        return "text"

    assert audit.examine(audit.Loop(fewer), **SMALL).lossless
    assert audit.examine(audit.Loop(more), **SMALL).lossless
    assert audit.examine(audit.Loop(garbage), **SMALL).findings[0].kind == "returns garbage"


def test_parameters_of_another_name_are_bad_input():
    with pytest.raises(BadInput, match="target, draft, prompt, length"):
        audit.Loop(lambda p, q, x: [0])
    with pytest.raises(BadInput, match="temperature"):
        audit.Loop(lambda target, draft, prompt, length, temperature: [0])
    with pytest.raises(BadInput, match="dtype"):
        audit.Loop(sound, dtype="float128")


def test_a_model_gives_no_cache_where_none_is_wanted():
    from draftproof.simulators.audit.targets.models import Model

    model = Model(Table.exact(2, {(): ["1/2", "1/2"], (1,): [1, 0]}), torch.float64)
    assert model(torch.tensor([[0, 0, 1]]), use_cache=False).past_key_values is None
    batch = model(torch.tensor([[0, 0], [0, 0]]))
    again = model(torch.tensor([[1], [0]]), past_key_values=batch.past_key_values)
    assert again.logits.softmax(-1)[:, 0, 0].tolist() == [1.0, 0.5]


def test_a_loop_is_not_tested_with_padding():
    with pytest.raises(BadInput, match="loop"):
        audit.examine(audit.Loop(sound), padding=True)


def test_a_model_gives_its_rows_with_and_without_a_cache():
    from draftproof.simulators.audit.targets.models import Model

    model = Model(Table.exact(2, {(): ["1/2", "1/2"], (1,): [1, 0]}), torch.float64)
    assert model(torch.tensor([[0, 0, 1]])).logits.softmax(-1)[0].tolist() == [[0.5, 0.5]] * 2 + [[1.0, 0.0]]
    cache = model(torch.tensor([[0, 0]])).past_key_values
    assert model(torch.tensor([[1]]), past_key_values=cache).logits.softmax(-1).tolist() == [[[1.0, 0.0]]]


RESIDUALS = {
    "evenly": lambda p, q, x: ((p - q).clamp(min=0) > 1e-4).float(),
    "the largest": lambda p, q, x: torch.nn.functional.one_hot((p - q).argmax(), len(p)).float(),
    "squared": lambda p, q, x: (p - q).clamp(min=0) ** 2,
    "by the target": lambda p, q, x: p * (p > q + 1e-4),
    "without the drafted token alone": lambda p, q, x: p * (torch.arange(len(p)) != x),
}
"""What replaces a rejected token: right where the residual holds one token, as it does with two."""


@pytest.mark.parametrize("name", RESIDUALS)
@pytest.mark.sampled(2)
def test_a_first_residual_holds_two_tokens_by_default(name):
    def loop(target, draft, prompt, length):
        words = []
        while len(words) < length:
            p, q = (model.row(words).softmax(-1) for model in (target, draft))
            x = int(torch.multinomial(q, 1))
            if torch.rand(()) >= p[x] / q[x]:
                x = int(torch.multinomial(RESIDUALS[name](p, q, x), 1))
            words.append(x)
        return words

    few = audit.examine(audit.Loop(loop), vocab=2, edges=False)
    assert few.lossless
    assert "vocab=2 cannot show" in str(few)
    assert audit.examine(audit.Loop(loop), edges=False, smallest=False).lossless is False


@pytest.mark.parametrize("keeps", [False, True])
def test_a_cache_that_keeps_what_was_rejected_is_found_at_depth_one(keeps):
    """Its contexts are too long by the rejected tokens, of which a table's rows would not depend."""

    def cached(target, draft, prompt, length):
        text, seen = [], []
        while len(text) < length:
            p, q = target.row(seen).softmax(-1), draft.row(text).softmax(-1)
            drafted = token = int(torch.multinomial(q, 1))
            if not torch.rand(()) < p[drafted] / q[drafted]:
                token = int(torch.multinomial((p - q).clamp(min=0), 1))
                seen += [drafted] * keeps
            text, seen = [*text, token], [*seen, token]
        return text

    assert audit.examine(audit.Loop(cached), vocab=2, depth=1, edges=False).lossless is not keeps
