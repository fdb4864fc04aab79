"""python -m tests.engines.openvino_simulated --environment DIR: does OpenVINO do with a drafter what we read?

Texts of the engine are compared with texts simulated on the rows of both models: by its rule as read
(studies/engines/openvino-acceptance.md), with separate streams for the two models, with rejections noticed at
once, and by rejection sampling.
"""

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from tests.engines.engine import PAIR, Way, serving
from tests.engines.independent import LENGTH, PROMPTS
from tests.engines.openvino import ENGINE

DRAFTED = 3
"""Tokens of a step, as in openvino_program.py."""
TEXTS, FEWEST = 800, 20
"""Texts of each prompt; counts below which tokens are put together."""
RULES = {
    "as read": (True, True, False),
    "separate streams": (False, True, False),
    "rejections noticed at once": (True, False, False),
    "rejection sampling": (False, False, True),
}
"""What is simulated -> (one stream of coins for both models, rejections noticed late, the right rule)."""


@cache
def sums(part: str, text: tuple[int, ...]) -> tuple[list[float], list[float]]:
    """The row of a model after a text, and its partial sums."""
    import torch

    with torch.no_grad():
        row = model(part)(torch.tensor([text])).logits[0, -1].double().softmax(-1).tolist()
    return row, list(accumulate(row))


@cache
def model(part: str):
    """The model of a folder of the shipped pair."""
    import torch
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(PAIR / part, dtype=torch.float32).eval()


def drawn(partial: list[float], coin: float) -> int:
    """The token in whose part of the row the coin lies."""
    return min(bisect_left(partial, coin * partial[-1]), len(partial) - 1)


def coins(seed: int) -> Iterator[float]:
    """A stream of uniform numbers."""
    stream = random.Random(seed)
    while True:
        yield stream.random()


def simulated(prompt: tuple[int, ...], shared: bool, late: bool, right: bool) -> list[int]:
    """LENGTH tokens."""
    seed = random.getrandbits(60)
    main, draft = coins(seed), coins(seed if shared else seed + 1)
    text = [drawn(sums("target", prompt)[1], next(main))]
    while len(text) < LENGTH:
        drafted: list[int] = []
        for _ in range(DRAFTED):
            drafted.append(drawn(sums("drafter", (*prompt, *text, *drafted))[1], next(draft)))
        text += judged((*prompt, *text), drafted, main, late, right)
    return text[:LENGTH]


def judged(
    before: tuple[int, ...], drafted: list[int], main: Iterator[float], late: bool, right: bool
) -> list[int]:
    """The tokens that a step emits."""
    rejected = False
    for i, token in enumerate(drafted):
        (p, partial), (q, _) = (sums(part, (*before, *drafted[:i])) for part in ("target", "drafter"))
        own = drawn(partial, next(main))
        if rejected:
            return [*drafted[: i - 1], own]
        if right:
            if next(main) * q[token] >= p[token]:
                left = list(accumulate(max(a - b, 0.0) for a, b in zip(p, q, strict=True)))
                return [*drafted[:i], drawn(left, next(main))]
        elif int(next(main) * 101) / 100 > q[token] / p[own]:
            if not late:
                return [*drafted[:i], own]
            rejected = True
    kept = drafted[:-1] if rejected else drafted
    return [*kept, drawn(sums("target", (*before, *drafted))[1], next(main))]


def distance(one: list[list[int]], other: list[list[int]], n: int) -> tuple[float, int]:
    """Chi-squared between the tokens that two lists of texts have at place n, and its degrees of freedom."""
    a, b = (Counter(text[n] for text in texts) for texts in (one, other))
    often = [token for token in a | b if a[token] + b[token] >= FEWEST]
    pairs = [(a[token], b[token]) for token in often]
    pairs.append((len(one) - sum(x for x, _ in pairs), len(other) - sum(y for _, y in pairs)))
    return sum((x - y) ** 2 / (x + y) for x, y in pairs if x + y), len([1 for x, y in pairs if x + y]) - 1


@click.command()
@click.option("--environment", type=click.Path(path_type=Path), required=True)
@click.option("--port", default=8123, show_default=True)
def main(environment: Path, port: int) -> None:
    """z of chi-squared at each position, for each rule."""
    random.seed(0)
    [setting] = [each for each in ENGINE.settings if each.name == "drafter"]
    with (
        TemporaryDirectory() as folder,
        serving(ENGINE, setting, environment, port, Path(folder) / "log") as url,
    ):
        real = {p: [t[:LENGTH] for t in ENGINE.drawn(url, p, 3 * LENGTH, Way(TEXTS, 100))] for p in PROMPTS}
    for name, rule in RULES.items():
        texts = {prompt: [simulated(prompt, *rule) for _ in range(TEXTS)] for prompt in PROMPTS}
        zs = []
        for n in range(LENGTH):
            parts = [distance(real[prompt], texts[prompt], n) for prompt in PROMPTS]
            free = sum(dof for _, dof in parts)
            zs.append((sum(chi for chi, _ in parts) - free) / sqrt(2 * free))
        click.echo(f"{name}: z " + " ".join(f"{z:+.1f}" for z in zs))


if __name__ == "__main__":
    main()
