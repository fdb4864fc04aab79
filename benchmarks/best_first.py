"""E[tau] of best-first strata beside the best known trees of as many tokens, on any pair of models.

    python -m benchmarks.best_first [--pair FOLDER] [--skip 600] [--count 300] [--draws 1]

A place is the first 32 tokens of a held-out text; every contender draws trees there, and E[tau] given the
tree is averaged. All places' trees grow at once: a growth that reads a row waits until all others have asked
for one, so that each network makes one pass over all places for each node. The growth was fitted on the first
600 texts, which are left out. Differences are of means on the same places, with 95 % intervals. Which known
tree is best is chosen by its mean in the cell, which favours it.
"""

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import product
from pathlib import Path
from queue import Queue
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from draftproof.gpu.drafters.choose import SHIPPED
from draftproof.gpu.engine.prompts import prompts
from draftproof.gpu.network.models import Model, load
from draftproof.gpu.network.passes import Reader
from draftproof.gpu.network.states import StateReader
from draftproof.gpu.sampling.rows import Sampling
from draftproof.simulators.study.recorded import half_width
from draftproof.simulators.study.recorded_trees import DESIGNS, Design, named
from draftproof.theory.rows import Prefix

TEMPERATURES = 0.25, 0.6, 1.0
TREES = "2x3", "32", "64"
NEW = "best-first", "strata", "lifted-priority"
KNOWN = (
    ("uneven", "without replacement", "traversal"),
    ("chain", "one", "block"),
    ("same", "without replacement", "traversal"),
    ("same", "greedy", "hu-greedy"),
)

Both: TypeAlias = tuple[np.ndarray, np.ndarray]
"""The rows of the target and the drafter after one prefix."""
Asked: TypeAlias = tuple[int, Prefix, Future[Both]]


class Rows(dict[Prefix, np.ndarray]):
    """The drafter's rows below one text, from `ask` when they are first read; `target` has the others."""

    def __init__(self, ask: Callable[[Prefix], Both]) -> None:
        self.ask, self.target = ask, dict[Prefix, np.ndarray]()

    def __missing__(self, prefix: Prefix) -> np.ndarray:
        self.target[prefix], self[prefix] = self.ask(prefix)
        return self[prefix]


def together(
    count: int, work: Callable[[int, Rows], float], answer: Callable[[list[Asked]], None]
) -> np.ndarray:
    """work(i, rows) of each i below `count`, at once; `answer` gets what all that still work wait for."""
    queue: Queue[Asked | None] = Queue()

    def ask(i: int, prefix: Prefix) -> Both:
        given: Future[Both] = Future()
        queue.put((i, prefix, given))
        return given.result()

    def run(i: int) -> float:
        try:
            return work(i, Rows(lambda prefix: ask(i, prefix)))
        finally:
            queue.put(None)

    with ThreadPoolExecutor(count) as pool:
        found, working = [pool.submit(run, i) for i in range(count)], count
        while working:
            asked: list[Asked] = []
            while len(asked) < working:
                if (each := queue.get()) is None:
                    working -= 1
                else:
                    asked.append(each)
            try:
                answer(asked)
            except Exception as error:  # otherwise all would wait for ever
                for *_, given in asked:
                    given.set_exception(error)
    return np.array([each.result() for each in found])


class Texts:
    """Both networks' caches of some texts of one length; `answer` reads one node below each that asks."""

    def __init__(self, models: list[Model], texts: list[list[int]], sampling: Sampling, most: int) -> None:
        self.last, self.sampling, self.width = [text[-1] for text in texts], sampling, most + 2
        self.slots: list[dict[Prefix, list[int]]] = [{} for _ in texts]  # of each node's path, from the root
        self.passes = 0
        ids = torch.tensor(texts)[:, :-1]
        self.readers = [model.reader(len(texts), len(texts[0]) + most) for model in models]
        for reader in self.readers:
            reader.read(ids.tolist(), input_ids=ids, logits_to_keep=1)

    def answer(self, asked: list[Asked]) -> None:
        if not asked:
            return
        B = len(self.last)
        ids, levels = torch.zeros(2, B, 1, dtype=torch.long)
        sees = torch.zeros(B, 1, self.width, dtype=torch.bool)  # as in `gpu.draft.Tree`: the text, then slots
        sees[:, :, [0, self.passes + 1]] = True
        for i, prefix, _ in asked:
            path = [*(self.slots[i][prefix[:-1]] if prefix else []), self.passes]
            self.slots[i][prefix] = path
            ids[i], levels[i] = (prefix[-1] if prefix else self.last[i]), len(prefix)
            sees[i, 0, torch.tensor(path) + 1] = True
        p, q = (self.rows(reader, sees, levels, ids) for reader in self.readers)
        self.passes += 1
        for i, _, given in asked:
            given.set_result((p[i], q[i]))

    @torch.inference_mode()
    def rows(self, reader: Reader | StateReader, sees: Tensor, levels: Tensor, ids: Tensor) -> np.ndarray:
        output = reader.run(1, self.passes, sees=sees, levels=levels, input_ids=ids, logits_to_keep=1)
        rows = self.sampling.rows(output.logits[:, -1]).double()
        return (rows / rows.sum(1, keepdim=True)).numpy()


def measured(
    models: list[Model], texts: list[list[int]], temperature: float, tree: str, design: Design, draws: int
) -> np.ndarray:
    """E[tau] at each place, averaged over the draws."""
    shape, nodes, _ = named(tree)

    def value(i: int, rows: Rows, draw: int) -> float:
        rng = np.random.default_rng([i, draw, *f"{tree} {design.tree} {design.siblings}".encode()])
        root = design.draw(rows, shape, nodes, rng)
        return design.value(rows.target, rows, root)

    found = []
    for draw in range(draws):
        below = Texts(models, texts, Sampling(temperature), nodes + 1)
        found.append(together(len(texts), lambda i, rows, draw=draw: value(i, rows, draw), below.answer))
    return np.mean(found, axis=0)


def interval(values: np.ndarray, sign: str = "") -> tuple[str, float, float]:
    """(what a table shows, the mean, half the width of its interval)."""
    mean, half = float(values.mean()), half_width(values, np.arange(len(values)))
    return f"{mean:{sign}.2f} ± {half:.2f}", mean, half


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pair", type=Path, default=SHIPPED, help="a folder that `gpu train` made")
    parser.add_argument("--skip", type=int, default=600, help="texts that are left out")
    parser.add_argument("--count", type=int, default=300, help="places")
    parser.add_argument("--draws", type=int, default=1, help="trees at each place")
    options = parser.parse_args()
    torch.set_num_threads(1)
    models = [load(options.pair / name, "cpu") for name in ("target", "drafter")]
    texts = [each.ids for each in prompts(None, models[0], options.skip + options.count)][options.skip :]
    every = {(each.tree, each.siblings, each.verifier): each for each in DESIGNS}
    means, differences, verdicts = [], [], []
    for temperature, tree in product(TEMPERATURES, TREES):
        asked = [name for name in (NEW, *KNOWN) if not (tree.isdigit() and name[0] == "same")]
        found = {
            name: measured(models, texts, temperature, tree, every[name], options.draws) for name in asked
        }
        new = found.pop(NEW)
        best = max(found, key=lambda name: found[name].mean())
        traversal = max(
            (name for name in found if name[2] == "traversal"), key=lambda name: found[name].mean()
        )
        less = {name: interval(new - found[name], "+") for name in found}
        cell = [temperature, tree]
        means.append(
            [*cell, interval(new)[0], *(interval(found[n])[0] if n in found else None for n in KNOWN)]
        )
        differences.append([*cell, less[traversal][0], less[best][0], " ".join(best).removeprefix("same ")])
        verdicts.append((less[traversal], less[best]))
        print(*means[-1], differences[-1], file=sys.stderr, flush=True)
    captions = "E[tau]", "E[tau] of best-first strata less that of the best known tree of as many tokens"
    heads = [", ".join(name) for name in (NEW, *KNOWN)]
    columns = (
        ["T", "tree", *heads],
        ["T", "tree", "less the best with traversal", "less the best known", "which"],
    )
    tables = [
        {
            "caption": f"{caption}, {len(texts)} places, {options.draws} trees at each",
            "columns": of,
            "rows": rows,
        }
        for caption, of, rows in zip(captions, columns, (means, differences), strict=True)
    ]
    values = {"cells": len(verdicts)}
    for at, name in enumerate(("the best with traversal", "the best known")):
        values[f"above {name}"] = sum(each[at][1] > 0 for each in verdicts)
        values[f"above {name} by more than the interval"] = sum(
            each[at][1] > each[at][2] for each in verdicts
        )
        values[f"below {name} by more than the interval"] = sum(
            each[at][1] < -each[at][2] for each in verdicts
        )
    print(json.dumps({"tables": tables, "values": values}, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
