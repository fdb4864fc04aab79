"""Verification of filtered rows that are never written: each kernel that reads target rows limits them."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")

from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.gpu.verify import named  # noqa: E402
from draftproof.theory.errors import BadInput  # noqa: E402
from tests.gpu.kernels.drafts import CASES, NAMED, PAIR, assert_agree, both_sides, draft, drawn  # noqa: E402
from tests.gpu.kernels.mutants import edited  # noqa: E402
from tests.gpu.logits import probabilities  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
V = 1100  # two chunks
SETTINGS = (
    {"top_k": 9},
    {"top_p": 0.7, "temperature": 1.2},
    {"top_k": 40, "top_p": 0.9, "min_p": 0.02},
    {"temperature": 0.0},
)
PRIORITY = (("optimal", Tree.of_shape(PAIR, replacement=True)), ("lifted-optimal", Tree.chain(2)))
EACH = [pytest.param(*case, id=name) for case, name in zip(CASES, NAMED, strict=True)]
EACH += [pytest.param(*case, id=case[0]) for case in PRIORITY]


def filtered_draft(tree, settings, B=3, seed=0, dtype=torch.float32, **how):
    """Tokens drawn from filtered rows, and coins on both sides of what decides."""
    case = draft(tree, B, V, seed, **how).to("cpu", dtype)
    tokens = drawn(tree, probabilities(case.proposal, **settings), torch.Generator().manual_seed(seed))
    return replace(case, tokens=tokens)


@pytest.mark.parametrize(("name", "tree"), EACH)
@pytest.mark.sampled(12, long=True)
def test_the_law_is_that_of_filtered_rows(name, tree, device):
    settings = SETTINGS[(len(name) + tree.size) % len(SETTINGS)]
    assert_agree(filtered_draft(tree, settings).to(device), name, **settings)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("name", "tree"), EACH)
@pytest.mark.parametrize("k", range(len(SETTINGS)))
def test_each_rule_with_each_setting_in_minutes(name, tree, k, device):
    assert_agree(filtered_draft(tree, SETTINGS[k], seed=k).to(device), name, **SETTINGS[k])


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.sampled(2, long=True)
def test_of_equal_logits_some_are_kept(k, device):
    """Half of the rows' logits are their largest."""
    settings = ({"top_k": 9}, {"top_p": 0.7})[k]
    case = filtered_draft(Tree.chain(2), settings, B=6, dtype=torch.bfloat16, spread=2.0, apart=0.0)
    case = case.map_rows(lambda logits: logits.clamp(max=0.0))
    tokens = drawn(case.tree, probabilities(case.proposal, **settings), torch.Generator().manual_seed(0))
    assert_agree(replace(case, tokens=tokens).to(device), "block", **settings)


@pytest.mark.parametrize(("name", "tree"), [("block", Tree.chain(3)), *CASES[4:8:3], PRIORITY[1]])
@pytest.mark.sampled(4, long=True)
def test_the_draft_has_a_temperature_of_its_own(name, tree, device):
    """Rows of logits over 0.5 are those of twice the logits."""
    settings = {"temperature": 0.8, "top_k": 30}
    case = filtered_draft(tree, {"temperature": 0.5}, B=4).to(device)
    scaled = replace(case, proposal=case.proposal * 2)
    one, other = case.run(name, draft_heat=0.5, **settings), scaled.run(name, draft_heat=1.0, **settings)
    assert torch.equal(one.node, other.node)
    assert torch.equal(one.token, other.token)
    case = case.to("cpu")
    target, proposal = probabilities(case.target, **settings), probabilities(case.proposal, 0.5)
    rows = replace(case, target=target.double(), proposal=proposal.double())
    assert torch.equal(one.node, named(name).verify(rows).node)


def test_logits_that_no_kernel_filters(device):
    case = filtered_draft(Tree.chain(2), SETTINGS[2], dtype=torch.float64)
    with pytest.raises(BadInput, match="filters are for float32, bfloat16 and float16"):
        case.to(device).run("block", **SETTINGS[2])
    assert_agree(case.to(device, torch.float16), "block", **SETTINGS[2])
    assert len(case.take(torch.zeros(0, dtype=torch.long)).run("block", **SETTINGS[2]).node) == 0


def test_a_setting_out_of_range_is_refused(device):
    case = draft(Tree.chain(1), 1, 40).to(device)
    for settings in ({"top_p": 1.5}, {"top_k": -1}, {"min_p": 2.0, "top_k": 3}, {"temperature": -1.0}):
        with pytest.raises(BadInput, match="must be from 0 to"):
            case.run("block", **settings)


def test_a_row_that_is_no_law_is_an_error(device):
    case = filtered_draft(Tree.chain(2), SETTINGS[0], B=4)
    for b, wrong in enumerate((torch.nan, torch.inf, -torch.inf)):
        case.target[b, 0, 700 if b < 2 else slice(None)] = wrong
    for settings in SETTINGS[:2]:
        assert case.to(device).run("block", **settings).error.tolist() == [1, 1, 1, 0]


def nine_of_many(tree, seed):
    """Nine tokens that both models keep, and many others, each of which would count."""
    case = draft(tree, 1, V, seed, spread=0.02, apart=0.02)
    random = torch.Generator().manual_seed(seed)
    rows = [each.clone() for each in (case.target, case.proposal)]
    for each in rows:
        each[..., :: V // 8] += 0.2 + 1.5 * torch.rand(each[..., :: V // 8].shape, generator=random)
    case = replace(case, target=rows[0], proposal=rows[1])
    return replace(case, tokens=drawn(tree, probabilities(case.proposal, top_k=9), random))


WITHOUT = {
    "sweep": ("target_row(pair, x, V, logits.limits)", "target_row(pair, x, V, None)", "block"),
    "draw": ("target_row(pair, x, V, limits)", "target_row(pair, x, V, None)", "token"),
    "opening": (
        "limited(p_logit.to(tl.float32), at, logits.limits, b * N + parent)",
        "p_logit.to(tl.float32)",
        "token",
    ),
    "walk": ("scale, norm, V, logits.limits, b * N + f", "scale, norm, V, None, 0", "one-hot"),
    "cells": (
        "            p = target_row(pair, x, V, logits.limits)",
        "            p = target_row(pair, x, V, None)",
        "lifted-optimal",
    ),
    "cells left": ("p, q = target_row(pair, x, V, limits)", "p, q = target_row(pair, x, V, None)", "optimal"),
    "nodes reject": ("limited(p_logit, x, logits.limits, (b * N + f)[:, None, None])", "p_logit", "block"),
    "nodes ties": ("(logits == least) & (x > last)", "(logits < least)", "ties"),
    "nodes heat": ("tl.load(temperature + 1)", "tl.load(temperature)", "heat"),
}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("what", "edit"), WITHOUT.items(), ids=WITHOUT)
def test_a_flaw_is_noticed_where_a_kernel_forgets_the_limits(what, edit, device, tmp_path):
    right, wrong, name = edit

    def tested():
        if name == "ties":
            test_of_equal_logits_some_are_kept(0, device)
        elif name == "heat":
            test_the_draft_has_a_temperature_of_its_own("block", Tree.chain(3), device)
        else:
            tree = Tree.of_shape([[], []]) if name == "one-hot" else Tree.chain(2)
            some = (filtered_draft(tree, {"top_k": 9}, 1, seed, spread=0.2, apart=0.2) for seed in range(3))
            for one in (nine_of_many(tree, 3), *some):
                assert_agree(both_sides(one, name, top_k=9).to(device), name, 0.1, top_k=9)

    tested()
    with edited(what.split()[0], {right: wrong}, tmp_path), pytest.raises(AssertionError):
        tested()
