"""torch's random functions, followed: the same laws as by hand, and the idioms of real engines."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from draftproof.simulators import audit  # noqa: E402
from draftproof.simulators.audit.coins.sources import Every  # noqa: E402
from draftproof.simulators.audit.coins.state import NotEnumerable  # noqa: E402
from draftproof.simulators.audit.stand_ins.torch_mode import Answering  # noqa: E402
from draftproof.simulators.audit.stand_ins.triton_mode import addresses  # noqa: E402
from draftproof.simulators.laws.enumerate import outcomes  # noqa: E402

ROW = torch.tensor([0.125, 0.5, 0.375])


def law(function):
    """{what the function returns: its probability}."""
    found = {}

    def run(oracle):
        with Answering(Every(oracle)):
            return function()

    for weight, result in outcomes(run):
        found[result] = found.get(result, 0.0) + float(weight)
    return found


def inplace():
    noise = torch.empty(3)
    noise.exponential_()
    return int(ROW.clone().div_(noise).argmax(dim=-1))


def bernoulli():
    first = int(torch.bernoulli(torch.tensor([0.125])))
    return 0 if first else 1 + int(torch.rand(()) < 0.375 / 0.875)


DRAWS = {
    "multinomial": lambda: torch.multinomial(ROW, 1).item(),
    "exponential race": lambda: int((ROW / torch.empty(3).exponential_()).argmax()),
    "exponential race in place": inplace,
    "race with a clamp": lambda: int((torch.empty(3).exponential_().clamp_min(1e-20) / ROW).argmin()),
    "reciprocal": lambda: int((ROW * torch.empty(3).exponential_().reciprocal()).argmax()),
    "Gumbel": lambda: int((torch.log(ROW) - torch.log(-torch.log(torch.rand(3)))).argmax()),
    "race that looks for infinities": lambda: int(
        (lambda q: (ROW / torch.where((q == 0) | torch.isinf(q), 1e-10, q)).argmax())(
            torch.empty(3).exponential_()
        )
    ),
    "uniform_": lambda: int((torch.log(ROW) - (-torch.empty(3).uniform_().log()).log()).max(dim=0)[1]),
    "searchsorted": lambda: int(torch.searchsorted(ROW.cumsum(0), torch.rand(1))),
    "count of edges": lambda: int((ROW.cumsum(0) <= torch.rand(1)).sum()),
    "where": lambda: int(torch.where(torch.rand(2)[0] < 0.125, 0, 1) + (torch.rand(()) < 3 / 7) * 0),
    "bernoulli": bernoulli,
}


@pytest.mark.parametrize("name", [name for name in DRAWS if name != "where"])
def test_every_way_to_draw_gives_the_row(name):
    got = {x: mass for x, mass in law(DRAWS[name]).items() if mass > 1e-7}
    assert set(got) == {0, 1, 2}
    assert all(abs(got[x] - float(ROW[x])) < 1e-6 for x in got)


def test_shapes_are_followed():
    def function():
        u = torch.rand(2, 3)
        picked = torch.stack([u.t()[1], u[:, 1].flip(0)]).reshape(-1)[[0, 3]].unsqueeze(0)
        return tuple((picked < 0.5).ravel().tolist())

    assert law(function) == {(True, True): 0.5, (False, False): 0.5}


def test_seeding_again_repeats_the_coins():
    def function():
        generator = torch.Generator()
        u = [torch.rand(1, generator=generator.manual_seed(5)) for _ in range(2)]
        return bool(u[0] < 0.5), bool(u[1] < 0.5)

    assert law(function) == {(True, True): 0.5, (False, False): 0.5}


@pytest.mark.parametrize(
    "function",
    [
        lambda: torch.randn(2).sum(),
        lambda: torch.fft.fft(torch.rand(2)),
        lambda: float(torch.sin(torch.rand(1))),
    ],
)
def test_what_is_not_followed_is_refused_by_name(function):
    with pytest.raises(NotEnumerable, match="torch"):
        law(function)


def test_torch_complains_in_its_own_words():
    with Answering(Every(None)), pytest.raises(RuntimeError, match="probability"):  # type: ignore[arg-type]
        torch.multinomial(torch.tensor([float("nan"), 1.0]), 1)


def verify(p, q, x):
    n = torch.arange(len(x))
    tau = int((torch.rand(len(x)) < p[n, x] / q[n, x]).int().cumprod(0).sum())
    row = (p[tau] - q[tau]).clamp(min=0) if tau < len(x) else p[tau]
    return torch.cat([x[:tau], torch.multinomial(row, 1)])


def biased(p, q, x):
    tau = int((torch.rand(1) < p[0, x[0]] / q[0, x[0]]).sum())
    return torch.cat([x[:tau], torch.multinomial(p[tau], 1)])


def test_a_torch_function_needs_no_rng():
    report = audit.examine(verify, vocab=2, depth=1)
    assert report.lossless, report
    assert report.adapter == "torch function"
    assert float(report.total_variation) < 1e-6
    assert audit.examine(biased, vocab=2, depth=1).lossless is False


def test_half_precision_has_its_own_floor():
    report = audit.examine(verify, vocab=2, depth=1, dtype="float16")
    assert report.lossless, report
    assert 1e-6 < float(report.total_variation) < float(report.case.bound)
    assert np.isfinite(float(report.case.bound))


def test_topk_of_a_race_draws_without_replacement():
    def pair():
        return tuple((torch.rand(3).log() / ROW).topk(2).indices.tolist())

    for (a, b), probability in law(pair).items():
        assert probability == pytest.approx(
            float(ROW[a].double() * ROW[b] / (1 - ROW[a].double())), rel=1e-12
        )
    assert len(law(pair)) == 6


def test_categories_beyond_the_support_are_torchs_own():
    for row, count in (([1.0, 0.0, 0.0], 3), ([0.0, 1.0, 0.0, 0.0], 2), ([0.0, 0.0, 0.0, 1.0], 3)):
        own = tuple(torch.multinomial(torch.tensor(row), count).tolist())
        assert law(lambda r=row, n=count: tuple(torch.multinomial(torch.tensor(r), n).tolist())) == {own: 1.0}


def test_the_addresses_of_a_transposed_tensor():
    x = torch.zeros(2, 3)
    assert (addresses(x.t()) - x.data_ptr()).tolist() == [[0, 12], [4, 16], [8, 20]]
