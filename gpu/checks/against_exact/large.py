"""Verifiers at real vocabulary sizes: float32 against float64, from the same logits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

import torch
from torch import Tensor

from draftproof.gpu.checks.against_exact.rounding import SMALLEST, STEPS, UNIT, margins, rates_and_rows
from draftproof.gpu.drafters.structures import Sampled
from draftproof.gpu.sampling.rows import PLAIN
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import VERIFIERS, Drafts, Verifier
from draftproof.gpu.verify.verifier import BELOW_ONE, stop_law

KINDS: tuple[str, ...] = ("random", "peaked", "near-equal", "adversarial")


def logits(kind: str, shape: tuple[int, ...], random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Logits of the target and of the proposal; `kind` is one of `KINDS`."""
    target = 3 * torch.randn(shape, generator=random)
    proposal = target + (1e-3 if kind == "near-equal" else 1.0) * torch.randn(shape, generator=random)
    if kind == "peaked":
        ids = torch.randint(shape[-1], (*shape[:-1], 1), generator=random)
        peak = torch.zeros(shape).scatter(-1, ids, 20.0)
        return target + peak, proposal + peak
    if kind == "adversarial":  # half of the tokens in both supports, probabilities down to float32's smallest
        u = torch.rand(shape, generator=random)
        tail = torch.where(torch.rand(shape, generator=random) < 0.5, 90.0, 0.0)
        return (target - tail).masked_fill(u < 0.25, -torch.inf), proposal.masked_fill(u > 0.75, -torch.inf)
    return target, proposal


DRAFTS = {
    "chain": Tree.chain(4),
    "tree": Tree.of_shape([[[], []], [[]], []]),
    "tree+": Tree.of_shape([[[], []], [[]], []], replacement=True),
    "strata": Tree.of_shape([[[], []], [[]], []], stratified=True),
}


@dataclass(frozen=True)
class Closeness:
    """Differences between float32 and float64 on one kind of logits."""

    verifier: str
    draft: str
    logits: str
    vocab: int
    of_margin: float  # the largest difference of a rate over its margin, if its coin is compared; at most 1
    row: float  # the mean total variation between the laws of the extra token, over where verification stops
    rows: int  # rows of noise compared
    wrong: int  # rows of noise decided differently
    first: str = ""  # the first of these: node, rates and margin

    @property
    def case(self) -> str:
        """What was compared, in words."""
        return f"{self.verifier} on a {self.draft}, {self.logits} logits, V = {self.vocab:,}"


def closeness(
    vocab: int,
    device: str = "cpu",
    seed: int = 0,
    verifiers: Sequence[Verifier] = (),
    cases: int | None = None,
) -> Iterator[Closeness]:
    """Compares the `verifiers` (default: all) on every draft they are made for and every kind of logits.

    `cases` limits the number of pairs of draft and logits.
    """
    for draft, kind in islice(product(DRAFTS, KINDS), cases):
        drafted = _drafted(DRAFTS[draft], kind, vocab, seed)
        for verifier in verifiers or VERIFIERS.values():
            if verifier.fits(DRAFTS[draft]):
                yield _compare(verifier, draft, kind, drafted, device)


def _drafted(tree: Tree, kind: str, vocab: int, seed: int) -> tuple[Drafts, Drafts, Tensor]:
    # float32 rows, float64 rows, and the unit of error: a rounding, that of exp(logit), |logit| roundings,
    # and the error of this float32 softmax, whose sum over a large vocabulary may be off by many roundings.
    random = torch.Generator().manual_seed(seed)
    p, q = logits(kind, (1, tree.size, vocab), random)
    q = q[:, : len(tree.inner or ())]
    single = [PLAIN.rows(side.float()) for side in (p, q)]
    double = [PLAIN.rows(side.double()) for side in (p, q)]
    drawn = Sampled("", tree).drawn(q.float(), torch.rand(1, tree.size - 1, generator=random))
    if drawn.strata is not None and drawn.rows is not None:  # the rows are the means of the strata
        single[1], double[1] = drawn.rows, drawn.rows.double()
    span = [(side.amax(-1) - side.masked_fill(side.isinf(), torch.inf).amin(-1)).amax(1) for side in (p, q)]
    pairs = [(one.double(), two) for one, two in zip(single, double, strict=True)]
    off = [torch.where(two > SMALLEST, (one - two).abs() / two, 0.0).flatten(1).amax(1) for one, two in pairs]
    unit = UNIT[torch.float32] * (1 + 2 * torch.maximum(*span).double() / STEPS)
    unit = unit + 2 * torch.maximum(*off) / STEPS
    drafts = [Drafts(tree, p, q, drawn.tokens, strata=drawn.strata) for p, q in (single, double)]
    return drafts[0], drafts[1], unit[:, None, None]


def _compare(
    verifier: Verifier, draft: str, kind: str, drafted: tuple[Drafts, Drafts, Tensor], device: str
) -> Closeness:
    plain = VERIFIERS[verifier.name]  # torch's, in float64
    single, double, unit = drafted
    single, double, unit = single.to(device), double.to(device), unit.to(device)
    tokens = single.tokens
    (one, rows), (two, exact_rows) = (rates_and_rows(verifier, side) for side in (single, double))
    low, high = one.accept.double(), two.accept
    margin = margins(lambda rows: verifier.rates(rows).accept, double, unit)
    stops = stop_law(verifier, single.tree, high, single.drawn)
    off = _compared(verifier, single, high) * (low - high).abs()
    laws = [each.double() / each.double().sum(-1, keepdim=True) for each in (rows, exact_rows)]
    apart = (stops * (laws[0] - laws[1]).abs().sum(-1) / 2).sum(1)
    wrong, count, example = 0, 0, ""
    for side in (-1, 1):  # coins are random, except one at a time just below, then just above its threshold
        for i in range(tokens.shape[1]):
            random = torch.Generator().manual_seed(i)
            coins = torch.rand(tokens.shape, generator=random).double().to(device)
            near = torch.arange(tokens.shape[1], device=device) == i
            coins = torch.where(near, (high + side * 2 * margin)[:, 1:], coins).clamp(0, BELOW_ONE)
            clear = ((coins - high[:, 1:]).abs() > margin[:, 1:]).all(1)  # no coin is near its threshold
            extra = torch.rand(len(tokens), generator=random).to(device)
            ours = verifier.verify(single.with_noise(coins, extra))
            exact = plain.verify(double.with_noise(coins, extra))
            bad = clear & ((ours.node != exact.node) | (ours.error != 0))
            wrong += int(bad.sum())
            count += int(clear.sum())
            if bad.any() and not example:
                b, node = int(bad.nonzero()[0, 0]), i + 1
                rates = f"{float(low[b, node]):.9f} in float32, {float(high[b, node]):.9f} in float64"
                example = f"node {node}, rate {rates}, margin {float(margin[b, node]):.1e}"
    errors = float((off / margin).max()), float(apart.max())
    return Closeness(verifier.name, draft, kind, single.target.shape[-1], *errors, count, wrong, example)


def _compared(verifier: Verifier, drafts: Drafts, accept: Tensor) -> Tensor:
    """[B, N]: the probability that verification compares each node's coin: how far the law of the stop moves
    if the node's acceptance probability moves from 0 to 1.
    """

    def law(node: int, rate: float) -> Tensor:
        changed = accept.index_fill(1, torch.tensor([node], device=accept.device), rate)
        return stop_law(verifier, drafts.tree, changed, drafts.drawn)

    ends = ((law(node, 0.0), law(node, 1.0)) for node in range(drafts.tree.size))
    return torch.stack([(one - two).abs().sum(1) / 2 for one, two in ends], 1)
