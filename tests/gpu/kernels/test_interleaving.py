"""Programs of one grid that meet: decisions do not depend on who comes when, or on when a store is seen."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

from draftproof.gpu.kernels import interpreted  # noqa: E402
from draftproof.gpu.kernels.grid import Split  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from tests.gpu.kernels.drafts import CASES, PAIR, TREE, Draft, draft  # noqa: E402

if not interpreted():
    pytest.skip("only the interpreter can be told in which order", allow_module_level=True)

from tests.gpu.kernels.interleaving import interleaved  # noqa: E402
from tests.gpu.kernels.mutants import FLAWS, flawed  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
SMALL = (
    ("token", Tree.chain(2)),
    ("block", Tree.chain(2)),
    ("specinfer", Tree.paths(2, 2)),
    ("rrs", Tree.of_shape([[], [], []])),
    ("traversal", Tree.of_shape(PAIR)),
    ("traversal", Tree.paths(2, 2)),
    ("one-hot", Tree.of_shape(PAIR)),
    ("nss", Tree.of_shape(PAIR)),
)
LARGE = (
    *CASES,
    ("rrs", Tree.of_shape([[], [], [], []])),
    ("specinfer", Tree.of_shape([[], [], [], []], replacement=True)),
    ("traversal", Tree.of_shape(TREE, replacement=True)),
    ("nss", Tree.of_shape(TREE, replacement=True)),
)
HANGING = {
    "short chain": ("block", Tree.chain(2), 3),
    "chain": ("block", Tree.chain(3), 2),
    "siblings": ("traversal", Tree.of_shape([[[], []]]), 7),
    "tree": ("traversal", Tree.of_shape(TREE), 0),
    "paths": ("traversal", Tree.paths(3, 2), 1),
}
"""Drafts, by their seeds, whose decisions hang on sums."""
SEEDS = some.integers(0, 10**6)
BENIGN = {("sweep", "pending_round")}
"""A child is made due while its programs look: what they find is another round's number before and after."""


@pytest.fixture(autouse=True, scope="module")
def three_chunks():
    """Rows of 320 logits are cut in three, and memory that nobody wrote holds NaN and huge numbers."""
    torch.use_deterministic_algorithms(True)
    with patch.object(Split, "of", lambda *_: Split(128, 3)):
        yield
    torch.use_deterministic_algorithms(False)


def late(tree: Tree, B: int, seed: int, missing: int = 0) -> Draft:
    """Flat rows, which leave bounds open; coins of leaves from 1/2, which mostly fail, other nodes' up to it.
    Node `missing`, if there is one, was not drawn.
    """
    case = draft(tree, B, 320, seed, spread=0.3, apart=1.0)
    tokens, coins = case.tokens.clone(), case.coins / 2
    if 0 < missing < tree.size:
        tokens[:, missing - 1] = -1
    for leaf in {*range(1, tree.size)} - {*(tree.inner or ())}:
        coins[:, leaf - 1] += 0.5
    return replace(case, tokens=tokens, coins=coins)


def decided(name: str, case: Draft) -> list[list[int]]:
    outcome = case.run(name)
    return [outcome.node.tolist(), outcome.token.tolist(), outcome.error.tolist()]


def assert_decided_alike(name: str, case: Draft, seed: int, models: tuple[bool, ...] = (False, True)) -> None:
    want = decided(name, case)
    for weak in models:
        with interleaved(seed, weak) as races:
            assert decided(name, case) == want
        assert races <= BENIGN


@pytest.mark.parametrize(("name", "tree"), SMALL)
@pytest.mark.sampled(2)
@settings(max_examples=2)
@given(seed=SEEDS, order=SEEDS, weak=some.booleans())
def test_decisions_do_not_depend_on_the_order(name, tree, seed, order, weak):
    assert_decided_alike(name, late(tree, 1, seed), order, (weak,))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("name", "tree"), LARGE)
@settings(max_examples=4)
@given(seed=SEEDS, order=SEEDS, missing=some.integers(0, 20))
def test_larger_drafts(name, tree, seed, order, missing):
    assert_decided_alike(name, late(tree, 2, seed, missing), order)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["traversal", pytest.param("rrs", marks=pytest.mark.long)])
@settings(max_examples=4)
@given(seed=SEEDS, order=SEEDS)
def test_trees_that_differ_from_row_to_row(name, seed, order):
    paths = late(Tree.paths(3, 2), 2, seed)
    tree, tokens = Tree.merged(paths.tokens.reshape(2, 2, 3).mT)
    assert_decided_alike(name, replace(paths, tree=tree, tokens=tokens), order)


@pytest.mark.parametrize("flaw", FLAWS)
@pytest.mark.sampled(4, long=True)
def test_a_flaw_is_noticed(flaw, tmp_path):
    soon = {FLAWS[flaw].soon}
    assert noticed(flaw, tmp_path, [FLAWS[flaw].on], 40, soon) == soon


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("flaw", FLAWS)
def test_what_notices_a_flaw_and_what_does_not(flaw, tmp_path):
    named = {FLAWS[flaw].soon, *FLAWS[flaw].later}
    assert noticed(flaw, tmp_path, list(HANGING), 40, named) == named
    assert not noticed(flaw, tmp_path, list(HANGING), 10, {"alone", "interleaved", "weak", "races"} - named)


def noticed(flaw: str, folder: Path, drafts: list[str], orders: int, wanted: set[str]) -> set[str]:
    """What of the wanted notices the flaw in so many orders of each draft; stops when all have."""
    cases = [(name, late(tree, 1, seed)) for name, tree, seed in map(HANGING.__getitem__, drafts)]
    right = [decided(*case) for case in cases]
    found = set()
    with flawed(flaw, folder):
        if any(decided(*case) != want for case, want in zip(cases, right, strict=True)):
            found.add("alone")
        models = [model for model in ("interleaved", "weak") if wanted & {model, "races"}]
        for order, case, model in product(range(orders), range(len(cases)), models):
            if wanted <= found:
                break
            with interleaved(order, model == "weak") as races:
                if decided(*cases[case]) != right[case]:
                    found.add(model)
            if races - BENIGN:
                found.add("races")
    return found & wanted


@triton.jit
def post(data, flag, seen, SEM: tl.constexpr):
    """One program writes data and raises a flag, the other one looks at the flag, then at the data."""
    if tl.program_id(0) == 0:
        tl.store(data, 1)
        tl.atomic_add(flag, 1, sem=SEM)
    else:
        tl.store(seen, tl.atomic_add(flag, 0, sem=SEM))
        tl.store(seen + 1, tl.load(data))


@triton.jit
def count(total, ATOMIC: tl.constexpr):
    if ATOMIC:
        tl.atomic_add(total, 1, sem="relaxed")
    else:
        tl.store(total, tl.load(total) + 1)


def posted(seed: int, weak: bool, sem: str) -> tuple[tuple[int, ...], set[tuple[str, str]]]:
    data, flag, seen = (torch.zeros(n, dtype=torch.int32) for n in (1, 1, 2))
    with interleaved(seed, weak) as races:
        post[(2,)](data, flag, seen, SEM=sem)
    return tuple(seen.tolist()), races


@pytest.mark.parametrize(("weak", "sem"), [(False, "relaxed"), (True, "acq_rel"), (True, "relaxed")])
def test_what_is_released_is_seen_by_who_acquires_it(weak, sem):
    ends = {posted(seed, weak, sem)[0] for seed in range(60)}
    assert ends == {(0, 0), (0, 1), (1, 1)} | ({(1, 0)} if weak and sem == "relaxed" else set())


def test_a_race_is_a_read_that_nothing_orders():
    for seed in range(60):
        ordered, ordered_races = posted(seed, False, "acq_rel")
        assert ordered != (1, 1) or not ordered_races
        loose, loose_races = posted(seed, False, "relaxed")
        assert loose != (1, 1) or loose_races == {("post", "data")}


@pytest.mark.parametrize(("atomic", "totals"), [(True, {3}), (False, {1, 2, 3})])
def test_updates_are_lost_unless_they_are_atomic(atomic, totals):
    found = []
    for seed in range(60):
        total = torch.zeros(1, dtype=torch.int32)
        with interleaved(seed):
            count[(3,)](total, ATOMIC=atomic)
        found.append(int(total))
    assert set(found) == totals


@pytest.mark.parametrize("weak", [False, True])
def test_a_seed_gives_one_order(weak):
    assert [posted(seed, weak, "relaxed") for seed in range(20)] == [
        posted(seed, weak, "relaxed") for seed in range(20)
    ]
