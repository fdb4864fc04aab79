"""Tokens a second of the engine and of transformers' assisted generation, for the same pair and prompts.

python benchmarks/generation.py [--model DIR] [--drafter DIR] [--gamma 4] [--tokens 96] [--repeats 5]

Both draft the same number of tokens. Runs alternate within each repeat, and each repeat gives one ratio. Both
sides sample at temperature 1 without filters, so they follow the same law with different random numbers.
"""

import argparse
import statistics
import time

import torch

from draftproof.gpu.bench.models import transformers
from draftproof.gpu.drafters.choose import SHIPPED, pair
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import structure
from draftproof.gpu.verify import named

PROMPTS = ("def main():\n", "import os\n\n\nclass ", '"""Read and write', "    for i in range(")


def ours(target, drafter, ids, gamma, tokens, temperature, seed):
    """Seconds and tokens of the engine."""
    started, emitted = time.perf_counter(), 0
    steps = generate(
        target,
        drafter,
        [ids],
        verifier=named("token"),
        structure=structure(f"chain:{gamma}"),
        sampling=Sampling(temperature),
        max_new_tokens=tokens,
        ignore_end=True,
        seed=seed,
    )
    for step in steps:
        emitted += len(step.emitted[0])
    return time.perf_counter() - started, emitted


def theirs(target, drafter, ids, gamma, tokens, temperature, seed):
    """Seconds and tokens of transformers' assisted generation."""
    made, seconds = transformers(target, drafter, gamma, [ids], tokens, Sampling(temperature), seed)
    return seconds, made


def main() -> None:
    """Prints the ratio of every repeat and their median."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=str(SHIPPED))
    parser.add_argument("--drafter")
    parser.add_argument("--gamma", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    target, drafter = pair(given.model, given.drafter)
    if not isinstance(drafter, ModelDrafter):
        raise SystemExit("assisted generation needs a drafter that is a model")
    ratios = []
    for repeat in range(-1, given.repeats):
        seconds, tokens = [0.0, 0.0], [0, 0]
        for prompt in PROMPTS:
            ids = target.tokenizer.encode(prompt)
            for side, decode in enumerate((ours, theirs)):
                spent, made = decode(
                    target, drafter, ids, given.gamma, given.tokens, given.temperature, repeat + 1
                )
                seconds[side] += spent
                tokens[side] += made
        speed = [made / spent for made, spent in zip(tokens, seconds, strict=True)]
        if repeat >= 0:  # the first round warms up
            ratios.append(speed[0] / speed[1])
            print(f"engine {speed[0]:7.1f} tokens/s, transformers {speed[1]:7.1f}, ratio {ratios[-1]:.2f}")
    print(f"median ratio {statistics.median(ratios):.2f} (must be at least 0.9)")


if __name__ == "__main__":
    main()
