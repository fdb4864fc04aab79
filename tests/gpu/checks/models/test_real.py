"""Greedy texts, joint laws and acceptance on small models: right is kept, wrong noticed."""
# ruff: noqa: E402

from dataclasses import replace
from functools import partial

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.checks.models.acceptance import Acceptance
from draftproof.gpu.checks.models.greedy import Reference, compare
from draftproof.gpu.checks.models.joint import laws, observe, word_law
from draftproof.gpu.drafters.choose import SHIPPED
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.prompts import prompts
from draftproof.gpu.network import reader
from draftproof.gpu.network.models import load
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import Rates, named
from draftproof.theory.errors import BadInput
from tests.gpu.edits import edit
from tests.gpu.lossy import LOSSY
from tests.gpu.small import PROMPTS, drafter, target

TWO = Sampling(1.0, top_k=2)


def decoding(verifier, shape):
    return partial(generate, target(), drafter("near"), verifier=verifier, structure=shape)


def test_a_law_of_words_is_the_product_of_rows_and_sums_to_one():
    law = word_law(target(), PROMPTS[1], 2, Sampling(1.0, top_k=3))
    assert law is not None
    assert len(law) == 9
    assert sum(law.values()) == pytest.approx(1)
    word = max(law, key=law.__getitem__)
    step = next(
        generate(
            target(),
            None,
            [[*PROMPTS[1], *word[:1]]],
            verifier=named("token"),
            structure=None,
            sampling=Sampling(1.0, top_k=3),
        )
    )
    first = sum(mass for other, mass in law.items() if other[0] == word[0])
    assert law[word] / first == pytest.approx(float(step.drafts.target[0, 0, word[1]]), rel=1e-4)


@pytest.mark.parametrize(("name", "spelling"), [("block", "chain:2"), ("traversal", "tree:2x2")])
def test_lossless_laws_are_kept_and_words_outside_are_infinite_evidence(name, spelling):
    (known,) = laws(target(), PROMPTS, 2, TWO, 1)
    (found,) = observe(decoding(named(name), structure(spelling)), [known], TWO, runs=300, batch=150, seed=0)
    assert not found.rejected
    assert (found.runs, found.words) == (300, 4)
    wider = replace(TWO, top_k=5)
    (other,) = observe(decoding(named(name), structure(spelling)), [known], wider, runs=300, batch=50, seed=0)
    assert other.rejected
    assert other.log_e == torch.inf


def test_a_lossy_verifier_is_noticed():
    (known,) = laws(target(), PROMPTS, 2, TWO, 1)
    typical = next(each.verifier for each in LOSSY if each.verifier.name == "typical")
    (found,) = observe(decoding(typical, structure("chain:2")), [known], TWO, runs=2000, batch=200, seed=0)
    assert found.rejected
    assert found.runs < 2000


def test_prompts_too_long_or_laws_too_large_are_bad_input():
    with pytest.raises(BadInput, match="too many"):
        laws(target(), PROMPTS, 6, Sampling(1.0, top_k=16), 1)
    with pytest.raises(BadInput, match="short enough"):
        laws(target(), [[1] * 95], 3, TWO, 1)


def test_greedy_texts_are_equal_and_a_wrong_one_is_no_tie():
    reference = Reference(target(), PROMPTS, 12)
    found = compare(reference, decoding(named("block"), structure("chain:3")))
    assert found.ok
    assert found.tokens == sum(map(len, reference.texts))
    assert not found.ties
    reference.texts[1][3] = (reference.texts[1][3] + 1) % 40
    found = compare(reference, decoding(named("block"), structure("chain:3")))
    assert not found.ok
    (tie,) = found.ties
    assert (tie.prompt, tie.place) == (1, 3)
    assert 0 < tie.tolerance < 0.1 < abs(tie.logits[0] - tie.logits[1])


def test_ties_in_bfloat16_are_narrow_enough_to_find_a_fault(monkeypatch):
    wide, noisy = (load(SHIPPED / name, "cpu", torch.bfloat16) for name in ("target", "drafter"))
    reference = Reference(wide, [each.ids[:32] for each in prompts(None, wide, count=8)], 32)
    decode = partial(
        generate, wide, ModelDrafter(noisy), verifier=named("traversal"), structure=structure("tree:2x2")
    )
    assert compare(reference, decode).ok
    edit(reader, "(self.lengths[:, None] + levels)", "(self.lengths[:, None] + levels + 1)", monkeypatch)
    found = compare(reference, decode)
    assert not found.ok
    assert all(tie.tolerance < 0.2 for tie in found.ties)


def accepted(verifier, rates=None, spelling="chain:3", told=None):
    shape = structure(spelling)
    found = Acceptance(replace(verifier, rates=rates) if rates else verifier, shape)
    for step in decoding(verifier, shape)([PROMPTS[1]] * 24, max_new_tokens=24, ignore_end=True):
        found.add(told(step) if told else step)
    return found


@pytest.mark.parametrize(
    ("name", "spelling"), [("block", "chain:3"), ("rrs", "tree:2x2"),
                           ("specinfer", "tree+:2x2"), ("traversal", "paths:2x2"), ("nss", "top-k:2x2x4")]
)  # fmt: skip
def test_acceptance_is_what_the_rows_predict(name, spelling):
    result = accepted(named(name), spelling=spelling)
    assert result.problems == []
    bounded = spelling.startswith(("chain", "top-k"))
    assert (result.bounds["full_information"] is not None) == bounded
    if name == "block":
        stateless, full = result.bounds["stateless"], result.bounds["full_information"]
        assert result.total.interval.predicted <= full
        assert abs(result.total.interval.predicted - stateless) < result.total.interval.above


def test_rates_of_another_verifier_do_not_agree():
    def half(*given):
        rates = named("block").rates(*given)
        return Rates(rates.accept / 2, rates.cut)

    assert any("E[tau]" in each for each in accepted(named("block"), half).problems)


def test_one_draft_in_twenty_refused_keeps_the_law_and_is_noticed():
    refusing = next(each.verifier for each in LOSSY if each.lossless)
    (known,) = laws(target(), PROMPTS, 2, TWO, 1)
    (kept,) = observe(decoding(refusing, structure("chain:2")), [known], TWO, runs=2000, batch=500, seed=0)
    assert not kept.rejected
    shape = structure("chain:3")
    for verifier, agrees in ((named("token"), True), (refusing, False)):
        found = Acceptance(verifier, shape)
        decode = partial(generate, target(), drafter("same"), verifier=verifier, structure=shape)
        for step in decode([PROMPTS[1]] * 128, max_new_tokens=24, ignore_end=True):
            found.add(step)
        total = found.total.interval
        assert total.half_width < 0.05 * total.predicted
        assert total.agrees == agrees
        assert (not found.problems) == agrees


def test_draws_from_another_row_than_told_are_noticed():
    def even(step):
        rows = torch.full_like(step.draft.proposal, 1 / step.draft.proposal.shape[-1])
        return replace(step, draft=replace(step.draft, rows=rows, logits=None))

    assert any("draws from q" in each for each in accepted(named("token"), told=even).problems)


def test_acceptance_above_the_bounds_is_noticed():
    def everything(*given):
        rates = named("rrs").rates(*given)
        return Rates(torch.ones_like(rates.accept), rates.cut)

    lossy = replace(named("rrs"), name="everything", rates=everything)
    found = [accepted(named("rrs")), accepted(lossy)]
    for each in found:
        assert 0 < each.bounds["stateless"] <= each.bounds["full_information"]
    above = [
        [
            bound
            for bound in ("stateless", "full-information")
            if f"above the {bound} bound" in " ".join(each.problems)
        ]
        for each in found
    ]
    assert above == [[], ["stateless", "full-information"]]
