"""What to do with the rows of a block drafter: chains, DDTree and sampled trees, on the same contexts.

    python -m benchmarks.block_diffusion accepted
    python -m benchmarks.block_diffusion speed
    python -m benchmarks.block_diffusion confidence --figure reliability.png
    python -m benchmarks.block_diffusion tree

`accepted`: the target continues each prompt by plain sampling; at several places of each text every method
drafts once, and E[tau | draft] is computed from the rows, beside bounds on it. Intervals (95 %) are clustered
by prompt. `speed`: processor seconds a token of whole texts, the methods in turn, and those of each phase.
`confidence`: how well the confidence head predicts sum min(p, q) of its rows, and DSpark's selection with it.
`tree`: processor milliseconds of DDTree's builder at V = 131,072.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import t as student

from draftproof.gpu.checks.models.acceptance import Acceptance, mean_accepted
from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.ddtree import likeliest_prefixes
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate, misfit
from draftproof.gpu.engine.output import Step, texts
from draftproof.gpu.engine.prompts import prompts
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named

HEATS = 0.0, 0.25, 0.6, 1.0
TREES = {
    8: ("tree:2x2", "tree:8x1", "strata:2x2", "strata:8x1", "ddtree:8x7"),
    16: ("tree:2x3", "tree:3x2", "strata:2x3", "strata:3x2", "ddtree:16x7"),
    32: ("tree:2x4", "tree:5x2", "strata:2x4", "strata:5x2", "ddtree:32x7"),
    64: ("tree:2x5", "tree:7x2", "strata:2x5", "strata:7x2", "ddtree:64x7"),
}
"""Structures by budget, of no more nodes than it."""
UNBOUNDED = "tree:8x1", "tree:5x2", "tree:7x2"
"""The time of their bounds grows as two to the number of siblings."""
RULES = {
    "chain": ("token", "block", "nss"),
    "tree": ("rrs", "traversal"),
    "strata": ("priority", "lifted-priority"),
    "ddtree": ("nss",),
}
SPED = (("argmax", "chain:3", "token"), ("sampled", "chain:2", "block"), ("sampled", "chain:3", "block"),
        ("sampled", "chain:5", "block"), ("", "ddtree:8x3", "nss"))  # fmt: skip


def interval(values: Sequence[float], clusters: Sequence[int]) -> tuple[float, float]:
    """(mean, half-width): the mean over clusters of their means, with Student's interval over clusters."""
    by = {each: np.mean([v for v, c in zip(values, clusters, strict=True) if c == each]) for each in clusters}
    means = np.array([*by.values()])
    half = student.ppf(0.975, len(means) - 1) * means.std(ddof=1) / len(means) ** 0.5
    return float(means.mean()), float(half)


def contexts(target: Any, heat: float, count: int, places: int) -> tuple[list[list[int]], list[int]]:
    """Beginnings of texts that the target sampled, and the number of each one's prompt."""
    given = [each.ids for each in prompts(None, target, count=count)]
    plain = {"verifier": named("token"), "structure": None, "sampling": Sampling(heat), "ignore_end": True}
    made = texts(generate(target, None, given, max_new_tokens=12 * places, seed=1, **plain), count)
    found = [
        (prompt + text[: 12 * k], number)
        for number, (prompt, text) in enumerate(zip(given, made, strict=True))
        for k in range(places)
    ]
    return [text for text, _ in found], [number for _, number in found]


def one_step(models: Any, texts: list[list[int]], heat: float, how: str, shape: str, rule: str) -> Step:
    """One draft for each context."""
    target, drafter = models
    return next(
        generate(
            target,
            drafter,
            texts,
            verifier=named(rule),
            structure=structure(shape),
            sampling=Sampling(heat),
            draft_sampling=Sampling(0.0 if how == "argmax" else heat),
            max_new_tokens=16,
            ignore_end=True,
            seed=2,
        )
    )


def accepted(models: Any, count: int, places: int) -> list[list[Any]]:
    """[T, budget, draft, verifier, E[tau], half-width, stateless bound, full-information bound]."""
    rows = []
    drafts = [("argmax", "chain:7", 8), ("sampled", "chain:7", 8)]
    drafts += [("sampled", shape, budget) for budget, shapes in TREES.items() for shape in shapes]
    for heat in HEATS:
        given, clusters = contexts(models[0], heat, count, places)
        for how, shape, budget in drafts:
            kind = shape.partition(":")[0]
            rules = RULES[kind] if how == "sampled" else ("token",)
            step = one_step(models, given, heat, how, shape, rules[-1])
            bounds: list[float | None] = [None, None]
            if shape not in UNBOUNDED:
                odds = Acceptance(named(rules[-1]), structure(shape))._odds(step)
                bounds = [round(float(each.sum(1).mean()), 3) for each in odds]
            for rule in rules:
                mean, half = interval(mean_accepted(named(rule), step).tolist(), clusters)
                name = shape if kind == "ddtree" else f"{how} {shape}"
                rows.append([heat, budget, name, rule, round(mean, 3), round(half, 3), *bounds])
                print(*rows[-1], flush=True)
    return rows


def speed(models: Any, count: int, repeats: int) -> list[list[Any]]:
    """[T, draft, verifier, ms a token, times as fast as plain decoding, half-width, shares of the phases]."""
    target, drafter = models
    given = [each.ids for each in prompts(None, target, count=count)]
    rows = []
    for heat in HEATS:
        fit = (each for each in SPED if misfit(named(each[2]), structure(each[1]), drafter, target) is None)
        ways: list[Any] = [None, *fit]
        cost: dict[Any, list[float]] = {way: [] for way in ways}
        calls: dict[Any, list[float]] = {way: [] for way in ways}
        phases: dict[Any, Counter[str]] = {way: Counter() for way in ways}
        for repeat in range(repeats + 1):  # the first one warms up
            for way in ways:
                how, shape, rule = way or ("", None, "token")
                plan = {"sampling": Sampling(heat), "max_new_tokens": 48, "seed": repeat, "ignore_end": True}
                plan["draft_sampling"] = Sampling(0.0 if how == "argmax" else heat)
                plan |= {"verifier": named(rule), "structure": structure(shape) if shape else None}
                made = steps = 0
                began = time.process_time()
                for prompt in given:
                    for step in generate(target, drafter if shape else None, [prompt], **plan):
                        made, steps = made + len(step.emitted[0]), steps + 1
                        phases[way].update(step.seconds)
                if repeat:
                    cost[way].append((time.process_time() - began) / made)
                    calls[way].append(made / steps)
        for way in ways:
            ratio, half = interval(
                [a / b for a, b in zip(cost[None], cost[way], strict=True)], range(repeats)
            )
            whole = sum(phases[way].values())
            parts = ", ".join(f"{name} {each / whole:.0%}" for name, each in phases[way].items())
            name = ["plain", ""] if way is None else [f"{way[0]} {way[1]}".strip(), way[2]]
            numbers = (np.mean(calls[way]), 1e3 * np.mean(cost[way]), ratio, half)
            rows.append([heat, *name, *(round(float(each), 3) for each in numbers), parts])
            print(*rows[-1], flush=True)
    return rows


def confidence(models: Any, count: int, places: int, figure: str | None) -> dict[str, list[list[Any]]]:
    """Reliability by bins, calibration errors, and selections."""
    target, drafter = models
    bins, errors, picked, points = [], [], [], {}
    for heat in (0.6, 1.0):
        given, _ = contexts(target, heat, count, places)
        step = one_step(models, given, heat, "sampled", "chain:7", "token")
        truth = torch.minimum(step.target[:, :-1], step.proposal).sum(-1).flatten().numpy()
        largest = step.proposal.amax(-1).flatten().numpy()
        for name, said in (("head", step.draft.confidence.flatten().numpy()), ("max q", largest)):
            bin_of = np.minimum((10 * said).astype(int), 9)
            inside = [bin_of == k for k in range(10)]
            table = [(k / 10, each.sum(), said[each].mean(), truth[each].mean())
                     for k, each in enumerate(inside) if each.any()]  # fmt: skip
            error = sum(n * abs(a - b) for _, n, a, b in table) / len(said)
            errors.append(
                [heat, name, round(float(error), 4), round(float(np.corrcoef(said, truth)[0, 1]), 3)]
            )
            bins += [[heat, name, k, int(n), round(float(a), 3), round(float(b), 3)] for k, n, a, b in table]
            points[heat, name] = [(a, b) for _, _, a, b in table]
            print(*errors[-1])
        few = [each.ids for each in prompts(None, target, count=16)]
        for rule, budget in (
            ("all", None),
            ("dspark", None),
            ("dspark", 24),
            ("fixed", 24),
            ("confidence-stop", None),
        ):
            plan = {"verifier": named("token"), "structure": structure("chain:7"), "sampling": Sampling(heat)}
            selection = Selection.of(rule, budget, cost=1 / 32)
            ran = list(
                generate(
                    target, drafter, few, selection=selection, max_new_tokens=48, ignore_end=True, **plan
                )
            )
            read = sum(sum(each.kept) for each in ran)
            lines = sum(len(each.rows) for each in ran)
            made = sum(len(tokens) for each in ran for tokens in each.emitted)
            picked.append([heat, rule, budget, round(made / lines, 3), round(read / lines, 3)])
            print(*picked[-1], flush=True)
    if figure:
        plot(points, figure)
    return {"bins": bins, "errors": errors, "selection": picked}


def plot(points: dict[tuple[float, str], list[tuple[float, float]]], path: str) -> None:
    """The reliability diagram."""
    from draftproof.simulators.support import figures

    drawn = figures.required()(figsize=(5, 5), layout="constrained")
    axes = drawn.subplots()
    axes.plot((0, 1), (0, 1), color="grey", linewidth=1)
    for (heat, name), each in points.items():
        axes.plot(*zip(*each, strict=True), marker="o", label=f"{name}, T = {heat:g}")
    axes.set(xlabel="said", ylabel="sum min(p, q)", title="Reliability of the confidence head")
    axes.legend()
    drawn.savefig(path, dpi=120)


def tree(repeats: int) -> list[list[Any]]:
    """[rows, budget, tokens of the deepest prefix, processor ms: least, median]."""
    rows = []
    kinds = {"normal, sd 1": (1, 0), "normal, sd 3": (3, 0), "two likely tokens in 15 rows": (1, 14)}
    for name, (spread, peak) in kinds.items():
        logits = spread * torch.randn(15, 131_072, generator=torch.Generator().manual_seed(0))
        logits[:, [5, 50]] += torch.tensor([peak, peak - 1.0])
        for budget in (64, 256, 1024):
            taken = []
            for _ in range(repeats):
                began = time.thread_time()
                _, parents = likeliest_prefixes(logits, budget)
                taken.append(1e3 * (time.thread_time() - began))
            depth = [0]
            for parent in parents:
                depth.append(depth[parent] + 1)
            rows.append([name, budget, max(depth), round(min(taken), 2), round(float(np.median(taken)), 2)])
            print(*rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("accepted", "speed", "confidence", "tree"))
    parser.add_argument("--model")
    parser.add_argument("--drafter", default="block")
    parser.add_argument("--count", type=int, default=24, help="prompts")
    parser.add_argument("--places", type=int, default=8, help="contexts of a prompt")
    parser.add_argument("--repeats", type=int, default=12)
    parser.add_argument("--figure")
    parser.add_argument("--json")
    given = parser.parse_args()
    torch.set_num_threads(1)
    models = None if given.what == "tree" else pair(given.model, given.drafter, "cpu")
    found: Any
    with torch.inference_mode():
        if given.what == "accepted":
            found = accepted(models, given.count, given.places)
        elif given.what == "speed":
            found = speed(models, 4, given.repeats)
        elif given.what == "confidence":
            found = confidence(models, given.count, given.places, given.figure)
        else:
            found = tree(given.repeats)
    if given.json:
        Path(given.json).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
