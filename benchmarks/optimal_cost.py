"""The optimum of a node in classes: the mass that it keeps, beside an upper bound, and its time on a CPU.

    python -m benchmarks.optimal_cost                        # what is kept
    python -m benchmarks.optimal_cost --priority 2ac37e4b^   # and the time, beside the priority rule's
    python -m benchmarks.optimal_cost --classes              # what other numbers of classes lose, and V = 60
    python -m benchmarks.optimal_cost --seeds 3 --siblings 2 --siblings 3   # other rows and numbers
    python -m benchmarks.optimal_cost --rows rows.npz        # strata on recorded rows

A root with K children, V = 131,072, one thread. Kept is 1 - S of the batched plan; for i.i.d. siblings the
limit is alpha*, for strata g(X) + p(off X) of one set X, which bounds every rule. `--priority` names a commit
whose batches had the priority rule in 64 classes: its package is taken out of git, and both take four turns,
each the least processor time of `--repeats` whole verifications; of these and of their ratio the median.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from draftproof.gpu.sampling.strata import stratified
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Batch, named

SIBLINGS = 2, 4, 8, 16
B = 4


def rows(kind: str, V: int, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows p and q [B, V] in float64: that fall by Zipf's law, or p dense and q its mean with another."""
    rng = np.random.default_rng(seed)
    if kind == "dense":
        p, r = rng.dirichlet(np.ones(V), (2, B))
        return torch.from_numpy(p), torch.from_numpy((p + r) / 2)
    z = -1.3 * np.log(np.arange(1, V + 1)) + rng.normal(0, 0.8, (2, B, V))
    p, q = np.exp({"flat": 1.0, "peaked": 1.7}[kind] * z)
    return tuple(torch.from_numpy(each / each.sum(1, keepdims=True)) for each in (p, q))  # type: ignore[return-value]


def drafted(p: torch.Tensor, q: torch.Tensor, K: int, strata: bool) -> Batch:
    """A root with K children that q drew."""
    tree = Tree.of_shape([[]] * K, replacement=not strata, stratified=strata)
    random = torch.Generator().manual_seed(0)
    u = torch.rand(B, K, generator=random)
    mean, places, x = stratified(q, torch.full((B,), K), u)
    if not strata:
        mean, places, x = q, None, torch.multinomial(q, K, replacement=True, generator=random)
    places = None if places is None else places[:, None]
    noise = torch.rand(B, K, generator=random), torch.rand(B, generator=random)
    return Batch(tree, p[:, None].expand(-1, K + 1, -1), mean[:, None], x, *noise, strata=places)


def limit(p: np.ndarray, q: np.ndarray, K: int, places: np.ndarray | None) -> float:
    """alpha* of i.i.d. siblings; of strata g(X) + p(off X), X the tokens that begin the order of the plan."""
    pi = q if places is None else K * q
    ratio = np.divide(p, pi, out=np.zeros_like(p), where=pi > 0)
    groups = 1 if places is None else K
    stratum = np.zeros(len(p), int) if places is None else np.floor(places).astype(int)
    share = np.zeros(len(p)) if places is None else places - stratum
    parts = [np.where(stratum == j, pi * (1 - share), 0) + np.where(stratum == j - 1, pi * share, 0)
             for j in range(groups)]  # fmt: skip
    order = np.argsort(-ratio, kind="stable")
    behind = [np.clip(1 - np.cumsum(part[order]), 0, 1) for part in parts]
    key = np.stack(behind)[stratum[order], np.arange(len(p))] * ratio[order]
    order = order[np.argsort(-key, kind="stable")]
    none = np.prod([np.clip(1 - np.cumsum(part[order]), 0, 1) for part in parts], 0) ** (K // groups)
    return float(min(1.0, (1 - none + 1 - np.cumsum(p[order])).min()))


def kept(batch: Batch, verifier: str = "optimal") -> list[float]:
    """1 - S of each request's root."""
    from draftproof.gpu.verify import optimal as plans

    assert batch.tree.generations
    nodes = plans.Nodes.of(batch, torch.cat(batch.tree.generations))
    return (1 - plans.plan(nodes, torch.ones(B, 1, dtype=torch.float64))[2])[:, 0].tolist()


def classes(V: int) -> Iterator[list]:
    """What i.i.d. siblings (K = 1 to 16) lose at most, and on average, in so many classes on nine pairs of
    rows; then alpha*, the optimum in classes and the priority rule for K = 4 on 100 pairs of 60 tokens.
    """
    from draftproof.simulators.study import designs
    from draftproof.theory.values.optimal_classes import SHARED, edge
    from studies.tree_designs.values import judged

    pairs = [
        (p[b].numpy(), q[b].numpy())
        for kind in ("flat", "peaked")
        for p, q in [rows(kind, V)]
        for b in range(B)
    ]
    pairs += [(p[0].numpy(), q[0].numpy()) for p, q in [rows("dense", V)]]
    best = [designs.alpha(*pair, designs.SIBLINGS, None) for pair in pairs]  # type: ignore[arg-type]
    for count in (64, 128, 256, 512, 1024):
        designs.EDGES = np.array([float(edge(k, count)) for k in range(count)[::-1]])
        found = [designs.optimal(*pair, designs.SIBLINGS, None) for pair in pairs]  # type: ignore[arg-type]
        loss = np.array(best) - np.array(found)
        yield [f"{count} classes", float(f"{loss.max():.1e}"), float(f"{loss.mean():.1e}")]
    designs.EDGES = np.array([float(edge(k, SHARED)) for k in range(SHARED)[::-1]])
    found = []
    for seed in range(100):
        p, r = np.random.default_rng(seed).dirichlet(np.full(60, 0.2), 2)
        q = (p + r) / 2
        for _ in judged(left := p.copy(), (q,) * 4):
            pass
        found.append(
            [*(rule(p, q, (4,), None)[0] for rule in (designs.alpha, designs.optimal)), 1 - left.sum()]
        )  # type: ignore[arg-type]
    yield ["alpha*, optimal, priority, V = 60", *np.mean(found, 0).round(4).tolist()]


def on_rows(path: str, K: int) -> list:
    """Of recorded rows: what strata keep on average, their limit, the ratio, and the least ratio."""
    found = np.load(path)
    kept_of, limits = [], []
    for begin in range(0, len(found["target"]) // B * B, B):
        p, q = (torch.from_numpy(found[name][begin : begin + B]).double() for name in ("target", "proposal"))
        batch = drafted(*(row / row.sum(1, keepdim=True) for row in (p, q)), K, strata=True)
        assert batch.strata is not None
        kept_of += kept(batch)
        own = batch.q[:, 0].numpy()
        limits += [limit(batch.target[b, 0].numpy(), own[b], K, batch.strata[b, 0].numpy()) for b in range(B)]
    means = float(np.mean(kept_of)), float(np.mean(limits))
    least = float(np.divide(kept_of, limits).min())
    return [len(limits), *(round(x, 5) for x in (*means, means[0] / means[1], least))]


def timed(rule: str, strata: bool, K: int, V: int, repeats: int) -> float:
    """Milliseconds of one verification."""
    p, q = rows("flat", V)
    batch = drafted(p.float(), q.float(), K, strata)
    found = named(rule).verify(batch)
    assert not found.error.any()
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        named(rule).verify(batch)
        best = min(best, time.process_time() - start)
    return 1e3 * best


def alone(folder: Path, *asked: object) -> float:
    """`timed` in a process of its own, by the package in the folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--time", *map(str, asked)]
    said = subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True, text=True)
    return float(said.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--priority", help="a commit")
    parser.add_argument("--vocab", type=int, default=131_072)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--classes", action="store_true")
    parser.add_argument("--time", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--rows", help="rows.npz of gpu record")
    parser.add_argument("--seeds", type=int, default=1, help="rows of so many seeds")
    parser.add_argument("--siblings", type=int, action="append", help="K")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.rows:
        for K in options.siblings or SIBLINGS:
            print(K, *on_rows(options.rows, K), sep=" | ", flush=True)
        return
    if options.classes:
        for line in classes(options.vocab):
            print(*line, sep=" | ", flush=True)
        return
    if options.time:
        rule, strata, K, V, repeats = options.time
        print(timed(rule, strata == "True", int(K), int(V), int(repeats)))
        return
    lines = []
    for strata in (False, True):
        for K, seed in product(options.siblings or SIBLINGS, range(1, options.seeds + 1)):
            line = ["strata" if strata else "i.i.d.", K, *([seed] if options.seeds > 1 else [])]
            for kind in ("flat", "peaked", "dense"):
                p, q = rows(kind, options.vocab, seed)
                batch = drafted(p, q, K, strata)
                places = batch.strata.numpy() if batch.strata is not None else [[None]] * B
                own = batch.q[:, 0].numpy()
                best = [limit(p[b].numpy(), own[b], K, places[b][0]) for b in range(B)]
                below = max(top - got for top, got in zip(best, kept(batch), strict=True))
                line += [round(float(np.mean(best)), 4), float(f"{below:.1e}")]
            lines.append(line)
            print(*line, flush=True)
    times = []
    if options.priority:
        root = Path(__file__).parents[1]
        said = subprocess.run(["git", "archive", options.priority], cwd=root, check=True, capture_output=True)
        with TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(said.stdout)) as archive:
            archive.extractall(folder, filter="tar")
            for strata in (False, True):
                for K in SIBLINGS:
                    asked = strata, K, options.vocab, options.repeats
                    turns = [(alone(Path(folder), "priority", *asked), alone(root, "optimal", *asked))
                             for _ in range(4)]  # fmt: skip
                    old, new, ratio = np.median([(old, new, new / old) for old, new in turns], 0)
                    name = "strata" if strata else "i.i.d."
                    times.append([name, K, *np.round((old, new), 1).tolist(), round(float(ratio), 2)])
                    print(*times[-1], flush=True)
    print(json.dumps({"kept": lines, "times": times}))


if __name__ == "__main__":
    main()
