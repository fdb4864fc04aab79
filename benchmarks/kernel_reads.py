"""How often the kernels read each logit, on the drafts of `draftproof gpu bench`: counted, not timed.

    python benchmarks/kernel_reads.py [--vocab 32768] [--gamma 8] [--batch 64]

Pass 1 reads every row once. Pass 2 reads the pair of rows of a node again for each rejection that matters:

    all         every drafted node's, as block verification is written
    coin        those whose node's own coin could still pass, S <= a - min(a p, q) at the drafted token
    in order    those that were not settled by an acceptance below: what is left if deeper rows come first

On a GPU the figure lies between the last two: rows are read in that order, many at a time.
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
                pairs = dict.fromkeys(("all", "coin", "in order"), int(stop < gamma))
            else:
                pairs = counted(rows, tokens, coins[0].tolist(), stop)
            for key, value in pairs.items():
                totals.setdefault(f"{name}, {key}", []).append(1 + 2 * value / (2 * gamma + 1))
            totals.setdefault(f"{name}, accepted", []).append(stop)
    print(f"chain, gamma = {gamma}, V = {arguments.vocab:,}, {arguments.batch} drafts; mean reads a logit")
    for key, values in totals.items():
        print(f"{key:18} {sum(values) / len(values):.3f}")


def counted(rows, tokens, coins: list[float], stop: int) -> dict[str, int]:
    """Pairs of rows that block verification reads again, three ways."""
    target, proposal = rows
    gamma = tokens.shape[1]
    w = [1.0]
    shared = []
    for i in range(gamma):
        p, q = float(target[0, i, tokens[0, i]]), float(proposal[0, i, tokens[0, i]])
        shared.append(min(w[-1] * p, q))
        w.append(min(1.0, w[-1] * p / q))
    if stop == gamma:
        return {"all": gamma, "coin": 0, "in order": 0}
    due = [0]
    for i in range(1, gamma):
        most = w[i] - shared[i]
        if coins[i - 1] < most / (most + 1 - w[i]) or w[i] == 1:
            due.append(i)
    return {"all": gamma, "coin": len(due), "in order": sum(i >= stop for i in due)}


if __name__ == "__main__":
    main()
