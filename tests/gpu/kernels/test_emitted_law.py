"""The law that the kernels' draw emits at a real vocabulary, counted over its grid of uniforms.

A chunk is chosen by the chunks' masses, which are float32 sums, and then a token in it, both in float64.
`Draw` does the same in numpy for many uniforms at once, and the kernel is asked on both sides of boundaries.
"""

from unittest import mock

import numpy as np
import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton", reason="the kernels need Triton")

import triton.language as tl  # noqa: E402

from draftproof.gpu.kernels import grid, verify  # noqa: E402
from draftproof.gpu.kernels.draw import residual  # noqa: E402
from draftproof.gpu.kernels.launch import Launch  # noqa: E402
from draftproof.gpu.kernels.nodes import CUT, family, nodes_of, pair_of, rounded_down, tree_of  # noqa: E402
from draftproof.gpu.kernels.noise import uniforms as on_device  # noqa: E402
from draftproof.gpu.sampling import noise  # noqa: E402
from draftproof.gpu.sampling.rows import PLAIN  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.gpu.verify import Batch, Outcome, named  # noqa: E402
from tests.gpu.counted import KINDS, V, apart, counts, logits  # noqa: E402
from tests.gpu.kernels.mutants import edited  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
LAST = 1 - 2.0**-53


@triton.jit
def kept_of_root(logits, chunks, tree, nodes, out, counts, block, SAMPLED: tl.constexpr):
    """The row that `draw` draws from after a stop at the root of request 0, chunk by chunk."""
    chunk, b = tl.program_id(0), tl.program_id(0).to(tl.int64) * 0
    N = counts.N
    tree = tree_of(tree, b)
    nodes = nodes_of(nodes, b, N)
    f = chunk * 0
    parent_of, token_of = family(tree, nodes.ids, N, block.NODES)
    pair = pair_of(logits, chunks.normaliser, b, f, f, counts)
    cut = tl.load(nodes.numbers + CUT * N) if SAMPLED else tl.full([], 0.0, tl.float32)
    x = chunk * block.CHUNK + tl.arange(0, block.CHUNK)
    row = residual(
        pair, logits.limits, x, counts.V, cut, f, parent_of, token_of, nodes.ids, SAMPLED, block.NODES
    )
    tl.store(out + x, row)


class Draw:
    """The kernels' draw after a stop at the root, and the same in numpy."""

    def __init__(self, target, proposal=None, temperature=1.0):
        self.temperature = temperature
        self.target, self.proposal = torch.from_numpy(target), proposal
        self.rule = named("one-hot" if proposal is None else "token")
        launch, _ = self.launched(np.zeros(1))
        chunks = launch.split.count, launch.split.size
        row = torch.zeros(chunks[0] * chunks[1])
        grid.run(kept_of_root, chunks[0])(
            launch.logits, launch.chunks, launch.tree, launch.nodes, row, launch.counts, launch.block,
            SAMPLED=launch.sampled,
        )  # fmt: skip
        self.row, masses = row.numpy().reshape(chunks), launch.chunks.sums[0, 0]
        if proposal is not None:
            masses = launch.swept[0, 1].clone()
            masses[0] = float(self.row[0].sum())  # token 0 was rejected: this chunk is summed again
        self.masses = np.zeros(launch.block.CHUNKS.value)
        self.masses[: chunks[0]] = masses.numpy()

    def launched(self, extra):
        """The kernels on as many equal requests as uniforms, whose drafted token 0, if any, is rejected."""
        B, drafted = len(extra), int(self.proposal is not None)
        target = self.target.expand(B, 1 + drafted, -1)
        proposal = torch.from_numpy(self.proposal).expand(B, 1, -1) if drafted else None
        noise = torch.full((B, drafted), LAST, dtype=torch.float64), torch.from_numpy(extra)
        batch = Batch(Tree.chain(drafted), target, proposal, torch.zeros(B, drafted).long(), *noise)
        drawn = Outcome(*torch.empty(3, B, dtype=torch.long))
        launch = Launch(
            self.rule, self.rule.fitted(batch), torch.full((B, 2), self.temperature), PLAIN, drawn
        )
        launch.all()
        assert (drawn.node == 0).all()
        return launch, drawn.token.numpy()

    def __call__(self, u):
        index = np.arange(len(self.masses))
        at = u * self.masses.sum()
        chunk = np.searchsorted(self.masses.cumsum(), at, side="right")
        chunk = np.minimum(chunk, np.flatnonzero(self.masses)[-1])
        before = np.array([np.where(index < end, self.masses, 0.0).sum() for end in index])
        u = np.minimum(np.maximum(at - before[chunk], 0.0) / self.masses[chunk], LAST)
        token = np.empty(len(u), np.int64)
        for each in np.unique(chunk):
            here, row = chunk == each, self.row[each].astype(np.float64)
            found = np.searchsorted(row.cumsum(), u[here] * row.sum(), side="right")
            token[here] = each * len(row) + np.minimum(found, np.flatnonzero(row)[-1])
        return token

    def law(self):
        """The counts, and the row that they should follow, after the kernel agreed at some boundaries."""
        found = counts(self, V)
        ends = found.cumsum()
        clear = np.flatnonzero((found > 0) & (ends < 1 << 53))
        ends = ends[np.random.default_rng(1).choice(clear, 8, replace=False)]
        u = np.array([*(ends - 1), *ends, 0, (1 << 53) - 1]) * 0.5**53
        assert np.array_equal(self(u), self.launched(u)[1])
        return found, self.row.ravel()[:V]


@pytest.fixture
def interpreted():
    if torch.cuda.is_available():
        pytest.skip("numpy adds in the interpreter's order, not in the GPU's")
    with mock.patch.object(grid, "processors", return_value=1):  # chunks do not depend on the batch
        yield


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(7)
def test_the_law_is_the_rows_own(kind, interpreted):
    found, row = Draw(logits(kind)).law()
    exact = torch.from_numpy(logits(kind)).double().softmax(0).numpy()
    assert apart(found, row) < 1e-7
    assert apart(found, exact) < 1e-6
    assert (found[exact > 1e-14] > 0).all()


@pytest.mark.parametrize("temperature", [0.1, 1e-2, 1e-4, 1e-25])
def test_a_low_temperature_keeps_its_digits(temperature, interpreted):
    """Rows far from zero, some tokens of which are within the temperature of the likeliest."""
    random = np.random.default_rng(3)
    target = 300 + 3 * random.normal(size=5000)
    target[::500] = 320 + temperature * random.normal(size=10)
    target = target.astype(np.float32)
    exact = np.exp((target.astype(np.float64) - target.max()) / np.float64(np.float32(temperature)))
    row = Draw(target, temperature=temperature).row.ravel()[:5000]
    assert abs(row - exact / exact.sum()).sum() < 2e-6


COLD = {
    "nodes": ("(logits - largest) * scale", "logits * scale - largest * scale"),
    "opening": ("(own - shift) * scale", "own * scale - shift * scale"),
}


@pytest.mark.parametrize("module", COLD)
def test_powers_of_large_numbers_are_noticed(module, interpreted, tmp_path):
    right, wrong = COLD[module]
    with edited(module, {right: wrong}, tmp_path), pytest.raises(AssertionError):
        test_a_low_temperature_keeps_its_digits(1e-4, None)


@pytest.mark.slow
def test_the_law_after_a_rejection_is_the_residuals_own(interpreted):
    proposal = logits("zipf in any order")
    proposal[0] = 10.0
    found, row = Draw(logits("normal"), proposal).law()
    assert found[0] == 0
    assert 1000 < (row == 0).sum() < V - 1000
    assert apart(found, row) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "right", "wrong"),
    [
        ("draw", "tl.where(own > 0, own, 1.0)", "tl.where(own > 0, own * (1 + 1e-5), 1.0)"),
        ("draw", "u = below_one(tl.load(extra + b))", "u = below_one(tl.load(extra + b).to(tl.float32))"),
    ],
)
def test_a_flaw_is_noticed(module, right, wrong, interpreted, tmp_path):
    with edited(module, {right: wrong}, tmp_path), pytest.raises(AssertionError):
        Draw(logits("normal")).law()


def last_tokens(device):
    row = torch.zeros(3, 1, 2500, device=device)
    row[..., -1] = -20.0  # 8e-13 of the mass
    u = torch.tensor([1 - 2.0**-24, 1 - 2.0**-42, 1.0], dtype=torch.float64, device=device)
    nothing = torch.zeros(3, 0, device=device)
    batch = Batch(Tree.chain(0).to(device), row, None, nothing.long(), nothing, u)
    return verify("one-hot", batch).token.tolist()


def test_the_last_token_is_drawn_by_the_last_uniforms_however_small_it_is(device, tmp_path):
    assert last_tokens(device) == [2498, 2499, 2499]
    with edited("nodes", {"tl.full([], BELOW_ONE, tl.float64)": "1 - 2**-24"}, tmp_path):
        assert last_tokens(device) == [2498, 2498, 2498]


@triton.jit
def down(coins, out, n, SIZE: tl.constexpr):
    """Coins as float32, rounded down."""
    at = tl.arange(0, SIZE)
    tl.store(out + at, rounded_down(tl.load(coins + at, mask=at < n, other=0.0)), mask=at < n)


def test_a_coin_rounded_down_is_below_the_same_float32_numbers(device):
    random = np.random.default_rng(0)
    rates = (random.random(500) ** 8).astype(np.float32)
    ends = rates.astype(np.float64)
    near = [ends, np.nextafter(ends, 0), np.nextafter(ends, 1), ends * (1 - 2.0**-26), [0.0, LAST] * 250]
    for coins in np.clip(near, 0, LAST):
        given, out = torch.from_numpy(coins).to(device), torch.zeros(500, device=device)
        grid.run(down, 1)(given, out, 500, SIZE=512)
        found = out.cpu().numpy()
        assert (found <= coins).all()
        assert np.array_equal(found < rates, coins < ends)


@pytest.mark.parametrize("count", [1, 4, 9, 130])
def test_the_noise_is_numpys_philox_bit_for_bit(count, device):
    keys = np.array([noise.key(7, b) for b in range(3)])
    places = [0, 5, (1 << 40) + 3]
    want = [noise.uniforms(key, place, count) for key, place in zip(keys, places, strict=True)]
    given = torch.from_numpy(keys.view(np.int64)).to(device), torch.tensor(places, device=device)
    found = on_device(*given, count)
    assert found.dtype == torch.float64
    assert np.array_equal(found.cpu().numpy(), want)
    whole = found.cpu().numpy() * 2.0**53
    assert np.array_equal(whole, np.floor(whole))
    assert (whole % 2).any()  # the last bit of 53 is used
