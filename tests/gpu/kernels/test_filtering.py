"""Top-k, top-p and min-p by a kernel: the tokens that plain torch keeps, and how often a logit is moved."""

from dataclasses import replace
from itertools import product

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")

from draftproof.gpu.sampling.rows import PerRequest, Sampling  # noqa: E402
from tests.gpu.kernels.mutants import edited  # noqa: E402
from tests.gpu.logits import filtered  # noqa: E402
from tests.gpu.traffic import Traffic, counting_kernels  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
V = 300

SETTINGS = [
    Sampling(top_k=7),
    Sampling(temperature=0.6, top_p=0.8),
    Sampling(temperature=1.3, top_k=40, top_p=0.5),
    Sampling(top_k=V, min_p=0.05),
    Sampling(temperature=0.8, top_k=20, top_p=0.9, min_p=0.02),
    Sampling(top_p=0.0),
]


def by_kernel(sampling, logits):
    from draftproof.gpu.kernels.filtering import filtered

    return filtered(sampling, logits)


@pytest.fixture
def blocks(monkeypatch):
    from draftproof.gpu.kernels import grid

    monkeypatch.setattr(grid, "SIZES", replace(grid.SIZES, chunk=128, span=8, search=128))  # three chunks


def rows(*sizes):
    return 3 * torch.randn(*sizes, V, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("sampling", SETTINGS, ids=str)
def test_the_same_tokens_are_kept(sampling, blocks, device):
    logits = rows(2, 1).to(device)
    assert torch.equal(by_kernel(sampling, logits), sampling.filtered(logits))


def each_of(samplings, device):
    """What these ask for as tensors, a request each; in float64, as Python's numbers."""
    asked = {name: [getattr(each, name) for each in samplings] for name in ("temperature", "top_p", "min_p")}
    made = {
        name: torch.tensor(numbers, dtype=torch.float64, device=device) for name, numbers in asked.items()
    }
    return PerRequest(top_k=torch.tensor([each.top_k for each in samplings], device=device), **made)


@pytest.mark.parametrize(
    ("row", "dtype"),
    [("drawn", torch.bfloat16)]
    + [
        pytest.param(*each, marks=pytest.mark.slow)
        for each in product(("drawn", "peaked", "flat"), (torch.float32, torch.bfloat16))
        if each != ("drawn", torch.bfloat16)
    ],
)
def test_each_request_has_its_own_filters(row, dtype, blocks, device):
    """No filter, greedy, and each filter alone and with others, in one launch."""
    asked = [
        *SETTINGS,
        *WIDE,
        Sampling(),
        Sampling(temperature=0.4),
        Sampling(top_k=2 * V),
        Sampling(min_p=0.1),
    ]
    made = {"drawn": lambda: rows(len(asked), 2), "peaked": lambda: peaked(V), "flat": lambda: flat(V)}[row]()
    logits = made.expand(len(asked), 2, V).to(device, dtype)
    together = by_kernel(each_of(asked, device), logits)
    for sampling, own, kept in zip(asked, logits, together, strict=True):
        assert torch.equal(kept, sampling.filtered(own)), sampling
    assert torch.equal(together, filtered(each_of(asked, device), logits))


def test_a_filter_that_nobody_asks_for_is_left_out(blocks, device):
    logits = rows(2, 2).to(device)
    heats = torch.tensor([0.0, 0.7], device=device)
    for given in ({}, {"top_k": torch.tensor([0, 5])}, {"top_p": torch.tensor([1.0, 0.5])}):
        each = PerRequest(heats, **{name: part.to(device) for name, part in given.items()})
        assert torch.equal(by_kernel(each, logits), filtered(each, logits))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_of_equal_logits_the_first_ones_are_kept(dtype, blocks, device):
    """A few values only, zeros of both signs among them; the cut falls within equal ones."""
    logits = (rows(1, 2).clamp(-3, 3).round() * 0.5).to(device, dtype)
    logits[..., ::2] = logits[..., ::2].where(logits[..., ::2] != 0, -0.0)
    for sampling in (Sampling(top_k=11), Sampling(top_p=0.53), Sampling(top_k=50, top_p=0.61)):
        found = by_kernel(sampling, logits)
        assert torch.equal(found, sampling.filtered(logits))
        assert (found == found.amax(-1, keepdim=True)).sum() < (logits == logits.amax(-1, keepdim=True)).sum()


@pytest.mark.parametrize(("dtype", "bits"), [(torch.float32, 23), (torch.bfloat16, 7), (torch.float16, 10)])
def test_neighbouring_numbers_of_a_type_are_told_apart(dtype, bits, blocks, device):
    order = torch.randperm(V, generator=torch.Generator().manual_seed(0)) % 2**bits
    logits = (1 + order.double() / 2**bits).to(device, dtype)[None, None]
    for sign in (1, -1):
        found = by_kernel(Sampling(top_k=11), sign * logits)
        assert torch.equal(found, Sampling(top_k=11).filtered(sign * logits))


def test_rows_that_are_no_law_stay_what_they_are(blocks, device):
    logits = rows(2, 3)
    logits[0, 0, 5], logits[0, 1, 3], logits[0, 2] = torch.nan, torch.inf, -torch.inf
    logits[1, 0, 2:] = -torch.inf
    found = by_kernel(Sampling(top_k=3, top_p=0.9), logits.to(device)).cpu()
    assert torch.softmax(found[0], -1).isnan().all()
    assert torch.equal(found[1], Sampling(top_k=3, top_p=0.9).filtered(logits)[1])


def test_a_view_of_other_rows_is_left_alone(blocks, device):
    logits = rows(1, 2).to(device)
    before, part = logits.clone(), logits[:, 1:, : V - 1]
    assert torch.equal(by_kernel(Sampling(top_k=5), part), Sampling(top_k=5).filtered(part))
    assert torch.equal(logits, before)


def peaked(V):
    """Thirty tokens above a bulk of others, as in rows of language models."""
    draw = torch.Generator().manual_seed(0)
    logits = 2.5 * torch.randn(1, 1, V, generator=draw)
    logits[..., torch.randperm(V, generator=draw)[:30]] += torch.linspace(22, 10, 30)
    return logits


def masked(V):
    """A grammar leaves one token of ten."""
    logits = torch.full((1, 1, V), -torch.inf)
    logits[..., 3::10] = peaked(V)[..., 3::10]
    return logits


def broad(V):
    return torch.randn(1, 1, V, generator=torch.Generator().manual_seed(0))


def flat(V):
    return torch.zeros(1, 1, V)


def differ(row, samplings, device):
    """The settings, and types of logits, with which the kernel keeps other tokens than plain torch."""
    cases = [(each, dtype) for each in samplings for dtype in (torch.float32, torch.bfloat16)]
    made = [(each, row(V).to(device, dtype)) for each, dtype in cases]
    return [each for each, logits in made if not torch.equal(by_kernel(each, logits), filtered(each, logits))]


WIDE = (
    *(Sampling(top_k=k) for k in (20, 35, 150)),
    *(Sampling(top_p=p) for p in (0.3, 0.8, 0.99)),
    Sampling(top_k=200, top_p=0.9),
    Sampling(temperature=0.0),
)


@pytest.mark.slow
@pytest.mark.parametrize("row", [peaked, masked, broad, flat])
def test_rows_with_few_likely_tokens_and_rows_with_many(row, blocks, device):
    assert not differ(row, (*SETTINGS, *WIDE), device)


FLAWS = {
    "a higher bound of the number": (
        "scale, False, sizes.LOW)\n        if sizes.TOP_P",
        "scale, False, sizes.LOW) + 1\n        if sizes.TOP_P",
    ),
    "a higher bound of the mass": (
        "scale, True, sizes.LOW)\n        taken",
        "scale, True, sizes.LOW) + 1\n        taken",
    ),
    "a higher mass": ("(1 - top_p) * whole / V", "(1 - top_p) * whole"),
    "no span that only reaches the limit": ("to(tl.float32) < least) == 0", "to(tl.float32) <= least) == 0"),
    "gathered over others": ("count += tl.sum(taken", "count = tl.sum(taken"),
    "the last quarter is never taken": ("tl.static_range(1, 4)", "tl.static_range(1, 3)"),
    "the mass above a part is forgotten": ("mass_above = tl.sum(tl", "_ = tl.sum(tl"),
    "the number above a part is forgotten": ("            above = tl.sum(tl", "            _ = tl.sum(tl"),
    "what is gathered counts as all": ("held = tl.where(above > 0, 0, count)", "held = count"),
    "the first of equal logits of a block": ("before += tl.sum(tie", "before = tl.sum(tie"),
    "min-p drops what it should not": ("scale, norm) >= min_p", "scale, norm) > 2 * min_p"),
    "low logits are taken for -inf": ("tl.float32), sizes.LOW) + 1", "tl.float32), sizes.LOW) + 2**30"),
}


OF_OTHERS = {
    "the first request's settings": ("own = b * sizes.EACH", "own = 0"),
    "another number of ties": ("tl.load(ks + own) - above", "tl.load(ks) - above"),
    "greedy requests draw": (
        "torch.where((k > 0) & (k < V), k, V), 1)",
        "torch.where((k > 0) & (k < V), k, V), V)",
    ),
    "0 keeps nothing": ("(k > 0) & (k < V)", "k < V"),
    "a mass after a number bounds": ("(top_p < 1) & (k >= V)", "top_p < 1"),
    "the whole mass bounds": ("(top_p < 1) & (k >= V)", "k >= V"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), OF_OTHERS.values(), ids=OF_OTHERS)
def test_a_wrong_request_is_noticed(right, wrong, blocks, device, tmp_path):
    row = "peaked" if "whole" in wrong or "k >= V" in wrong else "drawn"
    with edited("filtering", {right: wrong}, tmp_path), pytest.raises(AssertionError):
        test_each_request_has_its_own_filters(row, torch.float32, blocks, device)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), FLAWS.values(), ids=FLAWS)
def test_a_flaw_is_noticed(right, wrong, blocks, device, tmp_path):
    with edited("filtering", {right: wrong}, tmp_path):
        assert any(differ(row, (*SETTINGS, *WIDE), device) for row in (peaked, masked, broad, flat))


MOVED = {
    Sampling(top_k=20): 2.4,
    Sampling(top_k=50, top_p=0.9): 2.5,
    Sampling(top_p=0.9): 2.4,
    Sampling(min_p=0.05): 2.1,
}
"""Most reads and writes of a logit in rows of 32,768 bfloat16; one read and one write are needed."""


@pytest.mark.parametrize("sampling", MOVED, ids=str)
@pytest.mark.parametrize("row", [peaked, pytest.param(masked, marks=pytest.mark.slow)])
def test_a_logit_is_hardly_moved_more_than_twice(row, sampling, device):
    if device.type == "cuda":
        pytest.skip("loads are counted in the interpreter")
    logits, traffic = row(2**15).to(torch.bfloat16), Traffic(2**40)
    with traffic, counting_kernels(traffic):
        found = by_kernel(sampling, logits)
    assert torch.equal(found, sampling.filtered(logits))
    assert 2 * logits.nbytes <= traffic.bytes <= MOVED[sampling] * logits.nbytes
