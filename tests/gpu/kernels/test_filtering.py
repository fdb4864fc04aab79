"""Top-k, top-p and min-p by a kernel: the tokens that plain torch keeps."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")

from draftproof.gpu.rows import Sampling  # noqa: E402

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
    from draftproof.gpu.kernels import filtering

    return filtering.filtered(sampling, logits)


@pytest.fixture
def blocks(monkeypatch):
    from draftproof.gpu.kernels import filtering

    monkeypatch.setattr(filtering, "BLOCK", 128)  # three of them


def rows(*sizes):
    return 3 * torch.randn(*sizes, V, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("sampling", SETTINGS, ids=str)
def test_the_same_tokens_are_kept(sampling, blocks, device):
    logits = rows(2, 1).to(device)
    assert torch.equal(by_kernel(sampling, logits), sampling.filtered(logits))


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
