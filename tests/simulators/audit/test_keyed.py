"""Seeds that are made of the text are named coins; and whether a text is a function of the seed."""

import pytest

from draftproof.simulators.audit import assert_lossless, examine, load
from draftproof.simulators.audit.judge.invariant import varies
from draftproof.simulators.audit.sandbox import sandboxed
from draftproof.simulators.audit.targets.loops import Loop
from draftproof.theory.errors import BadInput
from tests.simulators.audit import keyed

pytest.importorskip("torch", reason="loops are given models of torch")


@pytest.mark.parametrize(("name", "lossless"), [("token", True), ("block", False), ("block_spared", True)])
def test_a_loop_with_seeds_made_of_contexts_is_judged_over_all_keys(name, lossless):
    report = examine(Loop(getattr(keyed, name), name=name), vocab=2, depth=2)
    assert report.lossless is lossless
    if lossless:
        assert "judged by the law over all keys" in str(report)
    else:
        assert report.total_variation > 100 * report.case.bound


def test_one_constant_seed_is_not_made_of_the_text():
    def generate(target, draft, prompt, length):
        rng = keyed.np.random.default_rng(3)
        return [keyed.drawn(rng, keyed.row(target, [])) for _ in range(length)]

    report = examine(Loop(generate, name="constant"), vocab=2, depth=1, runs=10)
    assert report.lossless is not True or "the same seed in every call" in str(report)
    assert "law over all keys" not in str(report)


@pytest.mark.parametrize(("function", "invariant"), [("match", True), ("race", True), ("rejection", False)])
def test_draws_of_the_target_are_a_function_of_the_seed_and_rejection_is_not(function, invariant):
    report = examine(getattr(keyed, function), vocab=2, depth=1, edges=False, invariant=True)
    assert report.lossless
    assert (report.status, bool(report.varies)) == ((0, False) if invariant else (1, True))
    assert invariant or "with coins" in report.varies


@pytest.mark.parametrize(
    ("function", "lossless", "beside"),
    [("together", True, False), ("streamed", True, True), ("of_neighbours", False, False)],
)
def test_a_request_of_a_batch_is_a_function_of_the_seed_if_no_other_is_looked_at(function, lossless, beside):
    report = examine(getattr(keyed, function), vocab=2, depth=1, edges=False, invariant=True)
    assert (report.lossless, report.status) == (lossless, int(not lossless or beside))
    assert ("beside the draft" in report.varies) is beside


def test_gumbel_max_by_products_of_uniforms_is_refused():
    report = examine(keyed.argmax_of_products, vocab=2, depth=1, edges=False)
    assert report.lossless is False
    assert "a test on random runs rejects the target's law" in str(report)


def test_of_neighbours_coins_the_text_varies_too():
    target = load.target(keyed.of_neighbours)
    with sandboxed(namespace=target.namespace) as sandbox:
        assert "beside the draft" in varies(target, sandbox)


def test_a_text_that_depends_on_the_length_of_the_draft_is_not_a_function_of_the_seed():
    with pytest.raises(AssertionError, match="NOT a function of the seed"):
        assert_lossless(keyed.early, vocab=2, depth=1, edges=False, invariant=True)


def test_only_a_function_of_one_draft_can_be_invariant():
    with pytest.raises(BadInput, match="a generation loop goes without invariant"):
        examine(Loop(keyed.token, name="token"), invariant=True)
    with pytest.raises(BadInput, match="goes without statistical"):
        examine(keyed.match, statistical=True, invariant=True)
