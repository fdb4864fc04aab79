"""Counts how often the kernels read each logit, on the drafts of `draftproof gpu bench`.

    python benchmarks/kernel_reads.py [--vocab 131072] [--gamma 8] [--batch 64]

Pass 1 reads every row once. Pass 2 reads the pair of rows of a node again for each rejection that matters:

    all         every drafted node, as block verification is written
    drafted     nodes whose coin is undecided if p and q are known at the drafted token
    bounded     nodes still undecided if p and q are also known around each chunk's largest target logit,
                unless a deeper node is certainly accepted: the most that the kernels read
    in order    those of the last line that no acceptance below makes unnecessary: the reads if deeper rows
                come first
On a GPU the count lies between the last two: rows are read in that order, many at a time.
"""

import argparse

import torch
from torch import Tensor

from draftproof.gpu.bench.cases import make
from draftproof.gpu.kernels import nodes
from draftproof.gpu.kernels.launch import Split
from draftproof.gpu.rows import probabilities
from draftproof.gpu.verify import named

OCTET, SLACK = nodes.OCTET.value, nodes.SLACK.value
WAYS = ("all", "drafted", "bounded", "in order")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocab", type=int, default=131_072)
    parser.add_argument("--gamma", type=int, default=8)
    parser.add_argument("--batch", type=int, default=64)
    arguments = parser.parse_args()
    totals: dict[str, list[float]] = {}
    gamma = arguments.gamma
    case = make("chain", gamma, arguments.vocab, arguments.batch, torch.device("cpu"), torch.float32)
    chunk = Split.of(arguments.batch * (2 * gamma + 1), arguments.vocab, torch.device("cpu")).size
    for b in range(arguments.batch):
        one = case.take(torch.tensor([b])).map_rows(lambda logits: probabilities(logits).double())
        for name in ("token", "block"):
            stop = int(named(name).verify(one).node)
            if name == "token":
                pairs = dict.fromkeys(WAYS, int(stop < gamma))
            else:
                pairs = counted(one.target[0], one.q[0], one.tokens[0], one.coins[0].tolist(), stop, chunk)
            for key, value in pairs.items():
                totals.setdefault(f"{name}, {key}", []).append(1 + 2 * value / (2 * gamma + 1))
            totals.setdefault(f"{name}, accepted", []).append(stop)
    print(f"chain, gamma = {gamma}, V = {arguments.vocab:,}, {arguments.batch} drafts; mean reads a logit")
    for key, values in totals.items():
        print(f"{key:18} {sum(values) / len(values):.3f}")


def counted(
    target: Tensor, proposal: Tensor, tokens: Tensor, coins: list[float], stop: int, chunk: int
) -> dict[str, int]:
    """Pairs of rows that block verification reads again, four ways; it stops at node `stop`."""
    gamma = len(tokens)
    if stop == gamma:  # decided by the last node's own coin, without a read
        return {"all": gamma, "drafted": 0, "bounded": 0, "in order": 0}
    w, drafted, bounded, certain = 1.0, [], [], 0
    for i, token in enumerate(tokens.tolist()):
        p, q = w * target[i], proposal[i]
        at_token = torch.arange(len(p)) == token
        known = at_token | around_largest(p, chunk)
        if i == 0 or not hopeless(coins[i - 1], w, float(torch.minimum(p, q)[at_token].sum())):
            drafted.append(i)
        if i == 0 or not hopeless(coins[i - 1], w, float(torch.minimum(p, q)[known].sum())):
            bounded.append(i)
        least = float((p - q).clamp(min=0)[known].sum()) * (1 - SLACK)
        if i and least > 0 and coins[i - 1] < least / (least + 1 - w):
            certain = i
        w = min(1.0, float(p[token] / q[token]))
    return {
        "all": gamma,
        "drafted": len(drafted),
        "bounded": sum(i >= certain for i in bounded),
        "in order": sum(i >= stop for i in bounded),
    }


def hopeless(coin: float, w: float, shared: float) -> bool:
    """Whether a coin fails at any rate S / (S + 1 - w), S at most w - shared."""
    most = (w - shared) * (1 + SLACK)
    return w < 1 and coin >= most / (most + 1 - w)


def around_largest(row: Tensor, chunk: int) -> Tensor:
    """The indices of the eight logits around each chunk's largest."""
    filled = torch.nn.functional.pad(row, (0, -len(row) % chunk)).reshape(-1, chunk // OCTET, OCTET)
    best = filled.amax(2).argmax(1)
    found = torch.zeros_like(filled, dtype=torch.bool)
    found[torch.arange(len(best)), best] = True
    return found.reshape(-1)[: len(row)]


if __name__ == "__main__":
    main()
