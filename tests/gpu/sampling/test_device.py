"""What runs on a GPU stays there: no tensor of another device, nothing read back to the host.

The device is pretended: tensors on "meta" have a device and a shape, and no numbers. Under FakeTensorMode two
devices do not mix, and whatever would need a number raises, as it would break a CUDA graph. A copy from
the host, which would wait for it, is an operation that a CPU tensor takes part in.
"""

from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

from draftproof.gpu import kernels  # noqa: E402
from draftproof.gpu.sampling.device import described, out_of_memory, usable  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.gpu.verify import VERIFIERS, Batch  # noqa: E402
from draftproof.gpu.verify.verifier import level_law, stop_law  # noqa: E402
from tests.gpu.logits import emitted, from_logits, probabilities  # noqa: E402

B, V = 3, 11
SHAPE = [[[], []], [[]], []]
DRAFTS = {
    "chain": Tree.chain(3),
    "nothing": Tree.chain(0),
    "tree": Tree.of_shape(SHAPE),
    "tree+": Tree.of_shape(SHAPE, replacement=True),
    "paths": Tree.paths(2, 3),
}
MOVED = {draft: tree.to("meta") for draft, tree in DRAFTS.items()}
FITTING = [
    (name, draft) for name, each in VERIFIERS.items() for draft, tree in DRAFTS.items() if each.fits(tree)
]

SETTINGS = [{}, {"temperature": 0.0}, {"temperature": 0.7, "top_k": 4, "top_p": 0.9, "min_p": 0.1}]
IDS = ["plain", "greedy", "filters"]


class OneDevice(TorchDispatchMode):
    """Fails on an operation that a tensor of another device takes part in."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for each in tree_leaves((args, kwargs, out)):
            if isinstance(each, Tensor) and each.device.type != "meta":
                raise AssertionError(f"{func} meets a tensor on {each.device}")
        return out


class NothingSent(TorchFunctionMode):
    """Fails on a tensor made of numbers of the host."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in (torch.tensor, torch.as_tensor, torch.from_numpy) and not isinstance(args[0], Tensor):
            raise AssertionError(f"{func.__name__} sends numbers to the device")
        return func(*args, **(kwargs or {}))


@contextmanager
def pretended():
    """The device of what runs inside."""
    with FakeTensorMode(allow_non_fake_inputs=True), OneDevice(), NothingSent():
        yield torch.device("meta")


@pytest.fixture
def device():
    with pretended() as device:
        yield device


def moved(thing, device):
    """The same, its tensors on a device."""
    if isinstance(thing, Tensor):
        return thing.to(device)
    if isinstance(thing, tuple):
        return tuple(moved(each, device) for each in thing)
    if is_dataclass(thing):
        return replace(
            thing, **{each.name: moved(getattr(thing, each.name), device) for each in fields(thing)}
        )
    return thing


def given(tree, device, dtype=torch.float32):
    """Logits, tokens and noise for a tree."""
    inner = len(tree.inner) if tree.inner is not None else tree.size - 1
    logits = [torch.empty(B, rows, V, device=device, dtype=dtype) for rows in (tree.size, inner)]
    tokens = torch.empty(B, tree.size - 1, device=device, dtype=torch.long)
    return *logits, tokens, torch.empty(B, tree.size - 1, device=device), torch.empty(B, device=device)


@pytest.mark.parametrize("settings", SETTINGS, ids=IDS)
def test_rows(settings, device):
    rows = probabilities(torch.empty(B, 4, V, device=device, dtype=torch.bfloat16), **settings)
    assert (rows.device, rows.dtype, rows.shape) == (device, torch.float32, (B, 4, V))


@pytest.mark.parametrize(("name", "draft"), FITTING)
def test_verifiers(name, draft, device):
    tree = MOVED[draft]
    batch = Batch(tree, *given(tree, device, torch.bfloat16))
    outcome = from_logits(name, batch)
    words = emitted(outcome, tree, batch.tokens)
    assert (outcome.node.device, words.device) == (device, device)
    assert (outcome.node.shape, words.shape) == ((B,), (B, tree.depth + 1))


@pytest.mark.parametrize("settings", SETTINGS, ids=IDS)
@pytest.mark.parametrize(("name", "draft"), [each for each in FITTING if each[0] in kernels.NAMES])
def test_kernels_are_launched_without_a_look_at_anything(name, draft, settings, device, monkeypatch):
    """All but the kernels themselves; a shared tree is read once, when it is first used."""
    launch = pytest.importorskip("draftproof.gpu.kernels.launch")
    launched = []
    monkeypatch.setattr(launch, "rounds", lambda tree: 2)
    monkeypatch.setattr(launch.grid, "run", lambda kernel, *_: lambda *_, **__: launched.append(kernel))
    tree = MOVED[draft]
    batch = Batch(tree, *given(tree, device, torch.bfloat16))
    outcome = kernels.verify(name, batch, **settings)
    assert (outcome.node.device, outcome.node.shape) == (device, (B,))
    assert len(launched) >= 3


@pytest.mark.parametrize("name", ["rrs", "traversal", "one-hot", "nss"])
def test_trees_that_differ_from_row_to_row(name, device):
    tree, tokens = Tree.merged(torch.empty(B, 2, 3, device=device, dtype=torch.long))
    target, _, _, *noise = given(tree, device)
    proposal = torch.empty(B, len(DRAFTS["paths"].inner), V, device=device)
    outcome = from_logits(name, Batch(tree, target, proposal, tokens, *noise))
    assert emitted(outcome, tree, tokens).shape == (B, 4)
    assert tree.take(torch.empty(5, device=device, dtype=torch.long)).parents.shape == (5, 7)


@pytest.mark.parametrize(("name", "draft"), FITTING)
def test_the_law_of_the_stop(name, draft, device):
    verifier, tree = VERIFIERS[name], MOVED[draft]
    drafts = Batch(tree, *given(tree, device)).map_rows(lambda logits: logits.softmax(-1))
    law = level_law(tree, stop_law(verifier, tree, verifier.rates(drafts).accept, drafts.drawn))
    assert (law.device, law.shape) == (device, (B, tree.depth + 1))


def test_what_no_verifier_exceeds():
    from draftproof.gpu.checks.models.acceptance import chain_odds, covered  # constants made on the host

    with pretended() as device:
        tree = MOVED["chain"]
        target, proposal, tokens, *_ = given(tree, device)
        for capped in (True, False):
            assert chain_odds(target, proposal, tokens, capped).shape == (B, 3)
        tree, tokens = Tree.merged(torch.empty(B, 2, 3, device=device, dtype=torch.long))
        target, *_ = given(tree, device)
        assert covered(tree, target, tokens).device == device


@pytest.mark.parametrize("draft", DRAFTS)
def test_who_sees_whom(draft, device):
    from draftproof.gpu.sampling.tree import mask

    starts = torch.empty(B, device=device, dtype=torch.long)
    assert mask(MOVED[draft].sees, starts, 20).shape == (B, 1, DRAFTS[draft].size, 20)


class Blank:
    """A drafter's session without a network."""

    def __init__(self, device):
        self.device = device

    def root(self):
        return torch.empty(B, V, device=self.device)

    def extend(self, tokens, level):
        return torch.empty(*tokens.shape, V, device=self.device)


@pytest.mark.parametrize(
    "spelling", ["chain:3", "tree:2x2", "tree+:2x2", "tree:eagle", "paths:2x3", "top-k:3x3x8"]
)
def test_drawing_a_draft(spelling):
    from draftproof.gpu.drafters.structures import structure
    from draftproof.gpu.sampling.rows import PLAIN

    shape = structure(spelling)
    read = ("stages",) if hasattr(type(shape), "stages") else ()  # read once, to the host
    tables = {name: moved(getattr(shape, name), "meta") for name in read}
    shape = shape.to(torch.device("meta"))
    vars(shape).update(tables)
    with pretended() as device:
        draft = shape.grow(Blank(device), PLAIN, torch.empty(B, shape.size - 1, device=device))
        assert (draft.tokens.device, draft.tree.parents.device) == (device, device)
        assert draft.tokens.shape == (B, shape.size - 1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda rows: rows + torch.arange(V),
        lambda rows: rows[:, torch.tensor([0])],
        lambda rows: rows + torch.tensor([1.0], device=rows.device),
        lambda rows: rows.sum().item(),
        lambda rows: rows if rows.amax() > 0 else -rows,
        lambda rows: rows[rows > 0],
        lambda rows: rows.cpu(),
    ],
)
def test_what_would_leave_the_device_is_noticed(wrong, device):
    rows = torch.empty(B, V, device=device)
    with pytest.raises((AssertionError, RuntimeError)):
        wrong(rows)


def test_a_cpu_can_be_used_and_is_described():
    assert usable("cpu") == torch.device("cpu")
    assert described(torch.device("cpu")).startswith("CPU, ")


def test_what_counts_as_out_of_memory():
    assert out_of_memory(RuntimeError("Triton Error [CUDA]: out of memory"))
    assert out_of_memory(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"))
    assert not out_of_memory(RuntimeError("no"))
