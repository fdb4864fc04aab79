"""How often the kernels read each logit, on the drafts of `draftproof gpu bench`: counted, not timed.

    python benchmarks/kernel_reads.py [--vocab 32768] [--gamma 8] [--batch 64]

Pass 1 reads every row once. Pass 2 reads the pair of rows of a node again for each rejection that matters:

    all         every drafted node's, as block verification is written
    coin        those whose node's own coin could still pass, S <= a - min(a p, q) at the drafted token
    in order    those that were not settled by an acceptance below: what is left if deeper rows come first
    maxima      what would be left, in any order, if p and q were known at the largest target logit of each
                of 32 chunks too, so that S has an upper and a lower bound near it; no kernel does that

On a GPU the figure lies between `coin` and `in order`: rows are read in that order, many at a time.
"""

import argparse

import torch

from gpu.kernel_bench.case import make
from gpu.rows import probabilities
from gpu.verify import named


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocab", type=int, default=32_768)
    parser.add_argument("--gamma", type=int, default=8)
    parser.add_argument("--batch", type=int, default=64)
    arguments = parser.parse_args()
    totals: dict[str, list[float]] = {}
    gamma = arguments.gamma
    case = make("chain", gamma, arguments.vocab, arguments.batch, torch.device("cpu"), torch.float32)
    noise = (case.tokens, case.coins, case.extra)
    for b in range(arguments.batch):
        rows = [probabilities(each[b : b + 1]).double() for each in (case.target, case.proposal)]
        tokens, coins, extra = (each[b : b + 1] for each in noise)
        for name in ("token", "block"):
            verifier = named(name)
            stop = int(verifier.verify(case.tree, *rows, tokens, coins, extra).node)
            if name == "token":
                pairs = dict.fromkeys(("all", "coin", "in order", "maxima"), int(stop < gamma))
            else:
                pairs = counted(rows, tokens, coins[0].tolist(), stop)
            for key, value in pairs.items():
                totals.setdefault(f"{name}, {key}", []).append(1 + 2 * value / (2 * gamma + 1))
            totals.setdefault(f"{name}, accepted", []).append(stop)
    print(f"chain, gamma = {gamma}, V = {arguments.vocab:,}, {arguments.batch} drafts; mean reads a logit")
    for key, values in totals.items():
        print(f"{key:18} {sum(values) / len(values):.3f}")


def counted(rows, tokens, coins: list[float], stop: int) -> dict[str, int]:
    """Pairs of rows that block verification reads again, four ways."""
    target, proposal = rows
    gamma = tokens.shape[1]
    if stop == gamma:
        return {"all": gamma, "coin": 0, "in order": 0, "maxima": 0}
    w = 1.0
    due, near, settled = [], [], 0
    for i in range(gamma):
        p, q = w * target[0, i], proposal[0, i]
        token = int(tokens[0, i])
        drafted = torch.arange(len(p)) == token
        known = drafted | at_maxima(p)
        if i == 0 or could_pass(coins[i - 1], w, w - float(torch.minimum(p, q)[drafted].sum())):
            due.append(i)
        if i == 0 or could_pass(coins[i - 1], w, w - float(torch.minimum(p, q)[known].sum())):
            near.append(i)
        rest = [chunks(torch.where(known, 0.0, row)).sum(1) for row in (p, q)]
        least = float((p - q).clamp(min=0)[known].sum() + (rest[0] - rest[1]).clamp(min=0).sum())
        if i and least > 0 and coins[i - 1] < least / (least + 1 - w) * (1 - 1e-4):
            settled = i
        w = min(1.0, float(p[token] / q[token]))
    return {
        "all": gamma,
        "coin": len(due),
        "in order": sum(i >= stop for i in due),
        "maxima": sum(i >= settled for i in near),
    }


def could_pass(coin: float, w: float, most: float) -> bool:
    """Whether a coin may fall below the node's rate when S is at most `most`."""
    return w == 1 or coin < most / (most + 1 - w)


def chunks(row: torch.Tensor) -> torch.Tensor:
    """32 of a row, the last filled up with zeros."""
    size = -(-len(row) // 32)
    return torch.nn.functional.pad(row, (0, 32 * size - len(row))).reshape(32, size)


def at_maxima(row: torch.Tensor) -> torch.Tensor:
    """Where the largest of each chunk is."""
    each = chunks(row)
    found = torch.zeros_like(each, dtype=torch.bool).scatter(1, each.argmax(1, keepdim=True), True)
    return found.reshape(-1)[: len(row)]


if __name__ == "__main__":
    main()
