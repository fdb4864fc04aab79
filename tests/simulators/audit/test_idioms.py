"""The field's idioms, each once right and once broken: both verdicts are right, or honestly undecided."""

import random
import time
from importlib.util import find_spec

import numpy as np
import pytest

from draftproof.simulators import audit
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from tests.simulators.audit.elsewhere import COINS

ROWS = Table.exact(3, {(): ["1/2", "1/4", "1/4"]}), Table.exact(3, {(): ["1/4", "1/2", "1/4"]})
ONE = Instance(*ROWS, Chain(1))
QUICK = {"instances": [ONE], "edges": False, "runs": 0}


def token(p, q, x, accepts, draw):
    """Token verification of one drafted token."""
    t = int(x[0])
    if accepts(p[0, t] / q[0, t]):
        return [t, int(draw(p[1]))]
    return [int(draw((p[0] - q[0]).clip(0)))]


def verdict(make, right, torch=False, **options):
    """The verdict on make(p, q, x, rng, right)."""
    if torch:
        verify = audit.Function(lambda p, q, x: make(p, q, x, right), name="f", tensors=True)
    else:
        verify = audit.Function(lambda p, q, x, rng: make(p, q, x, rng, right), name="f")
    return audit.examine(verify, **(QUICK | options))


def choice(rng, row):
    return rng.choice(len(row), p=row / row.sum())


def seeded_by_an_integer(p, q, x, rng, right):
    g = np.random.default_rng(rng.integers(2**31))
    return token(p, q, x, lambda a: g.random() < a, lambda row: choice(g, row if right else p[1]))


def bits(p, q, x, rng, right):
    def accepts(a):
        return random.getrandbits(53) / 2**53 < (a if right else 0.9 * a)

    return token(p, q, x, accepts, lambda row: choice(rng, row))


def ranged(p, q, x, rng, right):
    def accepts(a):
        return random.randrange(10**9, 10**9 + 2**52) - 10**9 < (a if right else 0.9 * a) * 2**52

    return token(p, q, x, accepts, lambda row: choice(rng, row))


@pytest.mark.parametrize("make", [seeded_by_an_integer, bits, ranged])
def test_integers_of_many_values_are_followed(make):
    assert verdict(make, True).lossless
    assert verdict(make, False).lossless is False


@pytest.mark.parametrize("k", [1, 3])
def test_a_sample_without_replacement_is_followed(k):
    """p is a multiple of 1/8, so eight slots hold its law; the first of a sample of slots is one of them."""

    def make(p, q, x, rng, right):
        slots = [t for t in range(3) for _ in range(round(8 * p[0, t]))]
        return [random.sample(slots if right else slots[1:], k)[0]]

    assert verdict(make, True).lossless
    assert verdict(make, False).lossless is False


def test_a_sample_larger_than_its_population_raises_as_a_real_one():
    def make(p, q, x, rng, right):
        return [random.sample(range(3), 4)[0]]

    with pytest.raises(BadInput, match="Sample larger than population"):
        verdict(make, True)


@pytest.mark.parametrize("which", sorted(COINS))
def test_generators_of_other_modules_are_followed(which):
    def make(p, q, x, rng, right):
        def accepts(a):
            return COINS[which]() < (a if right else 0.9 * a)

        return token(p, q, x, accepts, lambda row: choice(rng, row))

    assert verdict(make, True).lossless
    assert verdict(make, False).lossless is False
    assert type(COINS[which]()) is float  # the real ones are back


def test_an_integer_whose_value_matters_is_not_taken_for_a_seed():
    def parity(p, q, x, rng, right):
        return [int(int(rng.integers(2**40)) % 4 > 1)]

    half = Table.exact(2, {(): ["1/2", "1/2"]})
    report = verdict(parity, True, instances=[Instance(half, half, Chain(1))])
    assert report.lossless is None


@pytest.mark.parametrize(
    "rare",
    [
        lambda: id(object()) // 16 % 20 == 0,
        lambda: hash("a text") % 20 == 0,
        lambda: int(time.time() * 1e6) % 20 == 0,
        lambda: time.perf_counter_ns() % 20 == 0,
    ],
)
def test_chance_from_addresses_hashes_and_the_clock_is_noticed(rare):
    def make(p, q, x, rng, right):
        if rare():
            return [0]
        return token(p, q, x, lambda a: rng.random() < a, lambda row: choice(rng, row))

    report = verdict(make, True, instances=None, vocab=3, depth=2)
    assert report.lossless is not True  # it is biased; most often the chance is named and nothing decided


def test_a_call_that_measures_its_time_is_judged():
    def make(p, q, x, rng, right):
        began = time.perf_counter()
        word = token(p, q, x, lambda a: rng.random() < a, lambda row: choice(rng, row))
        assert time.perf_counter() - began >= 0
        return word

    assert verdict(make, True).lossless


def test_an_epsilon_that_float64_resolves_is_undecided_and_its_size_said():
    def make(p, q, x, rng, right):
        def race(row):
            return (row / (rng.exponential(size=len(row)) + (1e-10 if right else 0))).argmax()

        return token(p, q, x, lambda a: rng.random() < a, race)

    report = verdict(make, True)
    assert report.lossless is None
    assert "within" in report.undecided
    assert "epsilon" in report.undecided
    assert verdict(make, False).lossless  # there is none


@pytest.mark.parametrize("name", ["random.Random().sample", "numpy.random.default_rng().poisson"])
def test_a_method_that_is_read_and_not_called_is_no_draw(name):
    """As in libraries that name it when they are imported, which may be during an audit."""

    def make(p, q, x, rng, right):
        unused = eval(name, {"random": random, "numpy": np})
        if x[0] == 9:
            unused()
        return token(p, q, x, lambda a: rng.random() < a, lambda row: choice(rng, row if right else row**2))

    assert verdict(make, True).lossless
    assert verdict(make, False).lossless is False


def test_a_sample_of_counted_items_is_followed():
    def make(p, q, x, rng, right):
        def draw(row):  # of weights in twentieths
            return random.sample([0, 1, 2], 1, counts=[round(20 * each) if right else 1 for each in row])[0]

        return token(p, q, x, lambda a: rng.random() < a, draw)

    assert verdict(make, True).lossless
    assert verdict(make, False).lossless is False


@pytest.mark.parametrize("name", ["random.gauss(0, 1)", "rng.bit_generator.state", "rng.poisson(1.0)"])
def test_a_method_without_a_stand_in_is_undecided(name):
    def make(p, q, x, rng, right):
        return [int(eval(name, {"random": random, "rng": rng}) > 0)] * 2

    assert verdict(make, True).lossless is None


@pytest.mark.parametrize("raises_on", [0, 1, 2])
def test_a_wrong_law_comes_before_calls_that_raise(raises_on):
    def make(p, q, x, rng, right):
        if raises_on == x[0]:
            raise IndexError("of this token")
        return token(p, q, x, lambda a: rng.random() < a, lambda row: choice(rng, row if right else row**2))

    sure = Instance(
        ROWS[0], Table.exact(3, {(): [int(x == (raises_on + 1) % 3) for x in range(3)]}), Chain(1)
    )
    broken = verdict(make, False, instances=[ONE, sure])
    assert broken.wrong is not None
    assert "raises" in broken.found
    fails = verdict(make, True, instances=[ONE, sure])
    assert fails.status == 1
    assert "fails: it raises with probability" in str(fails)


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
class TestTorch:
    """Idioms of torch."""

    @staticmethod
    def accepts(a):
        import torch

        return torch.rand(()) < a

    def both(self, draw, accepts=None):
        """Whether the verdicts on draw(row, p, right) are right."""

        def make(p, q, x, right):
            return token(p, q, x, accepts or self.accepts, lambda row: draw(row, p, right))

        good, bad = verdict(make, True, torch=True), verdict(make, False, torch=True)
        assert good.lossless, good
        assert bad.lossless is False, bad

    def test_seeds(self):
        import torch

        def draw(row, p, right):
            g = torch.Generator()
            g.manual_seed(int(torch.randint(0, 2**31, (1,))))
            return torch.multinomial(row if right else p[1], 1, generator=g)

        def global_seed(row, p, right):
            torch.manual_seed(torch.randint(0, 2**31, (1,)).item())
            return torch.multinomial(row if right else p[1], 1)

        self.both(draw)
        self.both(global_seed)

    def test_races_with_an_epsilon(self):
        import torch

        def race(row, p, right):
            return ((row if right else p[1]) / (torch.empty_like(row).exponential_() + 1e-10)).argmax()

        def gumbel(row, p, right):
            u = torch.rand_like(row)
            return ((row if right else p[1]).log() - (-(u + 1e-10).log() + 1e-10).log()).argmax()

        def clamped(row, p, right):
            u = torch.rand_like(row).clamp(min=1e-10)
            return ((row if right else p[1]).log() - (-u.log()).log()).argmax()

        for draw in (race, gumbel, clamped):
            self.both(draw)

    def test_a_large_epsilon_is_not_ignored(self):
        import torch

        def make(p, q, x, right):
            def race(row):
                return (row / (torch.empty_like(row).exponential_() + 0.1)).argmax()

            return token(p, q, x, self.accepts, race)

        assert verdict(make, True, torch=True).lossless is None

    @pytest.mark.slow
    def test_other_shapes(self):
        import torch

        def gumbels(row, p, right):
            noise = torch.distributions.Gumbel(0.0, 1.0).sample(row.shape)
            return ((row if right else p[1]).log() + noise).argmax()

        def ordered(row, p, right):
            return torch.sort(torch.empty_like(row).exponential_() / (row if right else p[1])).indices[0]

        def floored(row, p, right):
            return torch.floor(torch.rand(()) * 4) if not right else torch.multinomial(row, 1)

        def scattered(row, p, right):
            u = torch.zeros(3).scatter_(0, torch.tensor([2]), torch.rand(1))[2] * (1.0 if right else 0.9)
            return torch.searchsorted(row.cumsum(0), u * row.sum()).clamp(max=2)

        def unknown(row, p, right):  # a function of torch that is not known: by bisection
            u = torch.zeros(3).index_copy(0, torch.tensor([2]), torch.rand(1))[2]
            return (row.cumsum(0) / row.sum() < u * (1.0 if right else 0.9)).sum()

        for draw in (gumbels, ordered, floored, scattered, unknown):
            self.both(draw)
