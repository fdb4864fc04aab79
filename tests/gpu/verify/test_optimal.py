"""The batched optimum: the exact engine's decisions, edge cases at a real vocabulary, and mutants."""
# ruff: noqa: E402

from dataclasses import replace
from itertools import product

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.against_exact.drafts import batch, every
from draftproof.gpu.checks.against_exact.noise import agreement
from draftproof.gpu.sampling.strata import stratified
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Batch, Rates, cells, named, optimal
from draftproof.simulators.instances.randoms import Mixed, Randoms
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree as Drawn
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from tests.gpu.logits import probabilities

NAMES = "optimal", "lifted-optimal"
UNEVEN = (((), ()), ())
SCHEMES = {
    "chain": (Chain(2), 3, 4),
    "tree+": (Drawn(((), (), ()), True), 3, 3),
    "uneven tree+": (Drawn(UNEVEN, True), 2, 12),
    "strata": (Stratified(((), (), ())), 5, 4),
    "uneven strata": (Stratified(UNEVEN), 4, 2),
    "grown strata": (BestFirst(4, 3), 4, 2),
    "fewer tokens than children": (Stratified((((), ()), ((), ()), ())), 2, 8),
}


def compared(scheme, verifier):
    draft, vocab, count = SCHEMES[scheme]
    return next(agreement(list(Randoms(draft, vocab, count, law=Mixed())), verifiers=[verifier]))


@pytest.mark.parametrize(("scheme", "name"), list(product(SCHEMES, NAMES)))
@pytest.mark.sampled(3)
def test_decisions_are_the_exact_engines(scheme, name):
    """Of two strata of one token each nearly all is kept: the case that none is is too narrow to be tried."""
    found = compared(scheme, named(name))
    assert found.wrong == 0, found
    assert found.rows > (10 if scheme == "fewer tokens than children" else 20) * found.narrow, found


@pytest.mark.parametrize("shape", [(((),),), (((),), ())], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_an_only_child_has_the_classes_of_strata(shape, name):
    """Entered with 1/2, a ratio of 2 is where a coarse class loses most."""
    p = {(): ("1/4", "3/4"), (0,): ("2/3", "1/3"), (1,): ("2/3", "1/3")}
    q = {(): ("1/2", "1/2"), (0,): ("1/3", "2/3"), (1,): ("1/3", "2/3")}
    last = dict.fromkeys(product(range(2), repeat=2), ("1/2", "1/2"))
    instance = Instance(Table.exact(2, p | last), Table.exact(2, q), Stratified(shape))
    (found,) = agreement([instance], verifiers=[named(name)])
    assert found.rows > 4 * found.narrow
    assert found.wrong == 0, found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheme", ["tree+", "uneven strata"])
def test_classes_without_mass_change_nothing(scheme, name, monkeypatch):
    """On a CPU they are left out; on a GPU, where the host may not look, they are not."""
    draft, vocab, count = SCHEMES[scheme]
    drafts = batch(
        [each for instance in Randoms(draft, vocab, count, law=Mixed()) for each in every(instance)]
    )
    few = named(name).rates(drafts)
    monkeypatch.setattr(optimal, "looks", lambda _: False)
    whole = named(name).rates(drafts)
    assert (few.accept - whole.accept)[drafts.drawn].abs().max() < 1e-12
    left = [[cells_left(each, drafts, node) for node in range(drafts.tree.size)] for each in (few, whole)]
    assert all((a - b).abs().max() < 1e-12 for a, b in zip(*left, strict=True))


def cells_left(rates, drafts, node):
    return named("optimal").left(drafts, rates.cut, torch.full((len(drafts.tokens),), node))


@pytest.mark.parametrize(("off", "refused"), [(1e-16, False), (1e-12, True)])
def test_a_rate_of_0_may_be_the_roundoff_of_what_is_left_of_1_and_no_more(off, refused):
    """Of the drafted 0 and 2 the 2 is kept for certain, so the rate of 0 is 0."""
    p = {(): ("2/37", "16/37", "19/37")} | {(x,): ("1/3", "1/3", "1/3") for x in range(3)}
    q = {(): ("7/16", "9/32", "9/32")}
    instance = Instance(Table.exact(3, p), Table.exact(3, q), Drawn(((), ()), True))

    def leaks(drafts):
        found = named("optimal").rates(drafts)
        return Rates(found.accept.clamp(min=off), found.cut)

    (found,) = agreement([instance], verifiers=[replace(named("optimal"), rates=leaks)])
    assert bool(found.wrong) == refused


def _one_cut(drafts):
    found = named("lifted-optimal").rates(drafts)
    return Rates(found.accept, found.cut.amax((2, 3), keepdim=True).expand_as(found.cut))


def _without_strata(drafts):
    return named("lifted-optimal").rates(replace(drafts, strata=drafts.strata.floor()))


def _drops_drafted(drafts):
    found = named("lifted-optimal").rates(drafts)
    return Rates(found.accept, found.cut.mean((2, 3)))


@pytest.mark.parametrize("mutant", [_one_cut, _without_strata, _drops_drafted])
def test_mutants_decide_differently(mutant):
    assert compared("strata", replace(named("lifted-optimal"), rates=mutant)).wrong


PAIR = [[], []]


def drafted(p, q, dtype, strata, K=2):
    """A root with K children, from logits of one request."""
    tree = Tree.of_shape([[]] * K, replacement=not strata, stratified=strata)
    p, q = (probabilities(torch.tensor([row]).to(dtype)) for row in (p, q))
    u = torch.rand(1, K, generator=torch.Generator().manual_seed(0))
    mean, places, x = stratified(q, torch.tensor([K]), u)
    if not strata:
        mean, places, x = q, None, torch.multinomial(q, K, replacement=True)
    places = None if places is None else places[:, None]
    noise = torch.zeros(1, K), torch.zeros(1)
    return Batch(tree, p[:, None].expand(-1, K + 1, -1), mean[:, None], x, *noise, strata=places)


def spread(V, seed):
    return (3 * torch.randn(V, generator=torch.Generator().manual_seed(seed))).tolist()


INFINITY = float("inf")
EDGES = {  # logits of p and q, by the size of the vocabulary
    "p = q": lambda V: (spread(V, 0), spread(V, 0)),
    "random": lambda V: (spread(V, 0), spread(V, 1)),
    "ties": lambda V: ([0.0] * V, [1.0] * (V // 2) + [0.0] * (V // 2)),
    "one-hot": lambda V: ([0.0] + [-INFINITY] * (V - 1),) * 2,
    "one-hot apart": lambda V: ([0.0] + [-INFINITY] * (V - 1), [-INFINITY] * (V - 1) + [0.0]),
    "disjoint": lambda V: ([0.0] * 9 + [-INFINITY] * (V - 9), [-INFINITY] * 9 + [0.0] * (V - 9)),
    "one stratum": lambda V: (spread(V, 0), [50.0] + [0.0] * (V - 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", EDGES)
def test_edge_cases(rows, dtype, strata):
    batch = drafted(*EDGES[rows](262_144), dtype, strata)
    for name in NAMES:
        rates = named(name).rates(batch)
        assert rates.accept.isfinite().all()
        assert rates.cut.isfinite().all()
        assert (rates.accept >= 0).all()
        assert (rates.accept <= 1).all()
        double = named(name).rates(batch.map_rows(torch.Tensor.double))
        assert (rates.accept - double.accept)[:, 1:].abs().max() < 1e-3
        for coin, extra in product((0.0, 0.5, 1.0), repeat=2):
            noise = {
                "coins": torch.full_like(batch.coins, coin),
                "extra": torch.full_like(batch.extra, extra),
            }
            found = named(name).verify(replace(batch, **noise))
            tokens = torch.cat((batch.tokens[0], found.token))
            emitted = {int(tokens[int(found.node) - 1]) if found.node else int(tokens[-1]), int(tokens[-1])}
            assert int(found.error) == 0
            assert all(batch.target[0, 0, x] > 0 for x in emitted)


def test_equal_rows_accept_all():
    batch = drafted(spread(1000, 0), spread(1000, 0), torch.float32, strata=False)
    found = named("optimal").rates(batch)
    left = cells.left(batch.target[:, 0], batch.q[:, 0], None, found.cut[:, 0])
    assert float(left.sum()) < 1e-6


def test_a_token_that_the_target_cannot_emit_is_never_accepted():
    batch = drafted([0.0, 0.0, -INFINITY, -INFINITY], [-9.0, -9.0, 0.0, 0.0], torch.float32, strata=True)
    for name in NAMES:
        found = named(name).verify(batch)
        assert int(found.node) == 0
        assert int(found.token) in (0, 1)
