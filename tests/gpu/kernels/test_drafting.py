"""Drafted tokens drawn by a kernel: the ones that plain torch draws with the same uniform numbers."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")

from draftproof.gpu import kernels  # noqa: E402
from draftproof.gpu.drafters.structures import structure  # noqa: E402
from draftproof.gpu.sampling.rows import PLAIN, Sampling  # noqa: E402
from tests.gpu.drafters.test_structures import Same  # noqa: E402
from tests.gpu.kernels.mutants import edited  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
V = 2500  # three chunks
ROUNDING = 1e-5  # of a cumulative probability: a power of 2 of exponents to 40, and sums of three chunks
slowly = partial(pytest.param, marks=pytest.mark.slow)


class Rows(Same):
    """A session whose rows are drawn at random, another for each node."""

    def __init__(self, batch, device, spread=3.0, dtype=torch.float32, size=V):
        self.batch, self.made = batch, torch.Generator().manual_seed(0)
        self.device, self.spread, self.dtype, self.size = device, spread, dtype, size

    def root(self):
        return self.extend(torch.zeros(self.batch, 1), None)[:, 0]

    def extend(self, tokens, level):
        logits = self.spread * torch.randn(*tokens.shape, self.size, generator=self.made)
        return logits.to(self.device, self.dtype)


def grown(monkeypatch, spelling, session, uniforms, sampling=PLAIN, by_kernel=True):
    monkeypatch.setattr(kernels, "compiled_for", lambda device: by_kernel)
    shape = structure(spelling).to(uniforms.device)
    return shape.grow(session, sampling, uniforms)


def numbers(spelling, batch, device):
    size = structure(spelling).size - 1
    return torch.rand(batch, size, generator=torch.Generator().manual_seed(1)).to(device)


@pytest.mark.parametrize(
    ("spelling", "sampling", "dtype"),
    [
        ("chain:2", Sampling(), torch.float32),
        ("tree:3x1", Sampling(top_k=2), torch.float32),
        slowly("tree:3x2", Sampling(), torch.float32),
        slowly("tree:[[[],[]],[[]],[]]", Sampling(temperature=0.4), torch.float32),
        slowly("tree+:3x1", Sampling(top_k=2), torch.float32),
        ("chain:2", Sampling(top_k=5, top_p=0.8), torch.float64),
        slowly("paths:2x2", Sampling(temperature=0.7), torch.bfloat16),
    ],
    ids=str,
)
def test_the_tokens_are_those_of_plain_torch(spelling, sampling, dtype, device, monkeypatch):
    uniforms, made = numbers(spelling, 3, device), []
    for by_kernel in (True, False):
        session = Rows(3, device, dtype=dtype)
        made.append(grown(monkeypatch, spelling, session, uniforms, sampling, by_kernel))
    found, want = made
    assert torch.equal(found.tokens, want.tokens)
    assert torch.equal(found.logits, want.logits)
    assert found.logits.dtype == dtype
    assert torch.equal(found.tree.parents, want.tree.parents)


@pytest.mark.parametrize("u", [0.0, 0.5, 1 - 2**-24])
def test_a_token_is_the_first_whose_cumulative_probability_passes_the_number(u, device, monkeypatch):
    """Whatever rounding does at an edge: float64 sums of the mass that is left."""
    session = Rows(2, device, spread=6.0)
    draft = grown(monkeypatch, "tree:4x1", session, torch.full((2, 4), u, device=device))
    rows = torch.softmax(draft.logits[:, 0].double(), -1)
    for b, tokens in enumerate(draft.tokens.tolist()):
        assert len({*tokens}) == 4
        row = rows[b]
        for token in tokens:
            before, upto = (float(row[:end].sum() / row.sum()) for end in (token, token + 1))
            assert before - ROUNDING <= u <= upto + ROUNDING
            assert row[token] > 0
            row[token] = 0


def test_where_nothing_can_be_drawn_there_is_no_token(device, monkeypatch):
    row = torch.full((V,), -torch.inf, device=device)
    row[[0, 2400]] = torch.tensor([1.0, 2.0], device=device)
    uniforms = numbers("tree:[[[]],[[]],[[]]]", 2, device)
    draft = grown(monkeypatch, "tree:[[[]],[[]],[[]]]", Same(2, row.exp()), uniforms)
    assert sorted(draft.tokens[0, :2].tolist()) == [0, 2400]
    assert (draft.tokens[:, [2, 5]] == -1).all()
    assert (draft.tokens[:, [0, 1, 3, 4]] >= 0).all()
    session = Same(2, row.exp())
    for wrong in (torch.nan, torch.inf):
        session.logits = torch.cat((row[:-1], torch.tensor([wrong], device=device)))
        assert (grown(monkeypatch, "chain:2", session, uniforms[:, :2]).tokens == -1).all()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "broken"),
    [
        ("if not REPLACEMENT:\n                taken", "if False:\n                taken"),
        ("masses = tl.where(index == chunk, rest, masses)", "masses = masses"),
        ("u * whole", "u"),
        ("other=0) < V", "other=0) <= V"),
    ],
    ids=["drawn again", "mass kept", "not scaled", "below nothing"],
)
def test_a_flaw_is_noticed(code, broken, device, monkeypatch, tmp_path):
    def tested():
        test_the_tokens_are_those_of_plain_torch("tree:3x2", PLAIN, torch.float32, device, monkeypatch)
        test_where_nothing_can_be_drawn_there_is_no_token(device, monkeypatch)

    with edited("drafting", {code: broken}, tmp_path), pytest.raises(AssertionError):
        tested()
