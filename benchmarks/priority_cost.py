"""What the priority rule and stratified drafts cost on a CPU, beside recursive rejection.

    python benchmarks/priority_cost.py --batch 1 --batch 8

Batched verification of 15-node binary trees from probabilities, and a draw of two siblings a node. Methods
take turns in one run on one thread, and each has its least time. Rows written: what torch's operations write,
in rows of V entries.
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from draftproof.gpu.sampling.strata import stratified
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Batch, named
from draftproof.gpu.verify.residual import draw

SHAPE = [[[[], []], [[], []]], [[[], []], [[], []]]]
NODES, INNER, K = 15, 7, 2


class Rows(TorchDispatchMode):
    """Counts the entries that operations on whole rows write."""

    def __init__(self, vocab: int) -> None:
        super().__init__()
        self.vocab, self.entries = vocab, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):  # type: ignore[override]
        result = function(*args, **(kwargs or {}))
        views = result is not None and getattr(function, "is_view", False)
        if isinstance(result, Tensor) and not views and result.numel() >= self.vocab:
            self.entries += result.numel()
        return result


def batches(B: int, V: int) -> dict[str, tuple[str, Batch]]:
    """What is verified: (verifier, batch) by name."""
    random = torch.Generator().manual_seed(0)
    target = 3 * torch.randn(B, NODES, V, generator=random)
    q = torch.softmax(target[:, :INNER] + 0.7 * torch.randn(B, INNER, V, generator=random), -1)
    p = torch.softmax(target, -1)
    noise = torch.rand(B, NODES - 1, generator=random), torch.rand(B, generator=random)
    u = torch.rand(B * INNER, K, generator=random)
    flat = q.flatten(0, 1)
    mean, places, strata = stratified(flat, torch.full((len(flat),), K), u)
    distinct = torch.multinomial(flat, K, generator=random).view(B, -1)
    again = torch.multinomial(flat, K, True, generator=random).view(B, -1)
    without, with_, of = (
        Tree.of_shape(SHAPE, **kind) for kind in ({}, {"replacement": True}, {"stratified": True})
    )
    shaped = {"strata": places.view(B, INNER, V)}
    rules = "priority", "lifted-priority"
    iid = Batch(with_, p, q, again, *noise)
    stratified_ = Batch(of, p, mean.view(B, INNER, V), strata.view(B, -1), *noise, **shaped)
    found = {f"{name}, i.i.d.": (name, iid) for name in rules}
    found |= {f"{name}, strata": (name, stratified_) for name in rules}
    given = Batch(without, p, q, distinct, *noise)
    return {"rrs": ("rrs", given), "traversal": ("traversal", given)} | found


def drawing(B: int, V: int) -> dict[str, Callable[[], object]]:
    """A draw of K siblings of B nodes."""
    random = torch.Generator().manual_seed(1)
    q = torch.softmax(3 * torch.randn(B, V, generator=random), -1)
    u, most = torch.rand(B, K, generator=random), torch.full((B,), K)

    def without() -> None:
        rows = q
        for j in range(K):
            new = draw(rows, u[:, j])
            new = torch.where(rows.amax(-1) > 0, new, -1)
            if j < K - 1:
                rows = rows.scatter(1, new.clamp(min=0)[:, None], 0.0)

    return {"without replacement": without, "strata": lambda: stratified(q, most, u)}


def measured(calls: Mapping[str, Callable[[], object]], repeats: int, V: int) -> list[list[object]]:
    """[name, ms, ratio to the first, rows of V that operations write, ratio] of each call."""
    best, rows = dict.fromkeys(calls, float("inf")), {}
    for name, call in calls.items():
        call()
        with Rows(V) as counted:
            call()
        rows[name] = counted.entries / V
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    first = next(iter(calls))
    found: list[list[object]] = []
    for name in calls:
        times, ratio = round(1e3 * best[name], 1), round(best[name] / best[first], 2)
        found.append([name, times, ratio, round(rows[name]), round(rows[name] / rows[first], 2)])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batch", type=int, action="append", help="[default: 1, 2, 4 and 8]")
    parser.add_argument("--vocab", type=int, default=131_072)
    parser.add_argument("--repeats", type=int, default=8)
    options = parser.parse_args()
    torch.set_num_threads(1)
    sizes, V = options.batch or [1, 2, 4, 8], options.vocab
    columns = ["method", "ms", "ratio", "rows written", "ratio of rows"]
    found = []
    for B in sizes:
        verify = {
            name: lambda verifier=verifier, batch=batch: named(verifier).verify(batch)
            for name, (verifier, batch) in batches(B, V).items()
        }
        found.append(measured(verify, options.repeats, V))
    tables = [
        {
            "caption": f"verification of {sizes[-1]} trees of {NODES} nodes, V = {V:,}",
            "columns": columns,
            "rows": found[-1],
        },
        {
            "caption": f"draw of {K} siblings at {sizes[-1]} nodes, V = {V:,}",
            "columns": columns,
            "rows": measured(drawing(sizes[-1], V), options.repeats, V),
        },
        {
            "caption": f"verification of batches, V = {V:,}: ratio to the first method's time",
            "columns": ["method", *(f"B = {B}" for B in sizes)],
            "rows": [[rows[0][0], *(row[2] for row in rows)] for rows in zip(*found, strict=True)],
        },
    ]
    print(json.dumps({"tables": tables}, indent=2))


if __name__ == "__main__":
    main()
