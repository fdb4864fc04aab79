"""Speculative decoding with the shipped pair beside the faster plain decoding on a CPU: ratios of time.

    python -m benchmarks.cpu_speed [--threads 1] [--prompts 24] [--repeats 3] [--tokens 64] [--temperature 1]
                                   [--draft chain:3] [--verifier block] [--drafter FOLDER] [--unfused]

For each prompt and repeat the ways take turns, in an order drawn anew, so that other work on the machine
meets all alike. The interval of the ratio is that of a bootstrap over prompts (95 %, 4,000 draws), because
runs of one prompt depend on each other. Time is processor time of all threads, or by the clock with --clock.
"""

import argparse
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np
import torch

from draftproof.gpu.checks.models.greedy import generated
from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.prompts import names, readable, standard_library
from draftproof.gpu.network import fused as fused_module
from draftproof.gpu.network.models import quiet
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named

PLAIN = "plain", "transformers"


def timed(kind: type, inside: Counter, name: str, clock: Callable[[], float]) -> type:
    """A class of networks that counts the time of all passes."""

    class Timed(kind):
        def __call__(self, *given, **options):
            began = clock()
            try:
                return super().__call__(*given, **options)
            finally:
                inside[name] += clock() - began

    return Timed


def main() -> None:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    for name, value in {"threads": 1, "prompts": 24, "repeats": 3, "tokens": 64}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--temperature", type=float, default=1.0)
    for name, value in {"draft": "chain:3", "verifier": "block", "drafter": None}.items():
        parser.add_argument(f"--{name}", default=value)
    parser.add_argument("--clock", action="store_true")
    parser.add_argument("--unfused", action="store_true", help="the drafter's pass as transformers makes it")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    clock = time.perf_counter if given.clock else time.process_time
    target, drafter = pair(None, given.drafter, "cpu")
    folder = standard_library()
    texts = [text for text in readable(folder, names(folder)) if len(text) > 4000]
    chosen = random.Random(0).sample(texts, given.prompts)
    prompts = [target.tokenizer.encode(text[1000:1400])[:64] for text in chosen]
    sampling, inside = Sampling(given.temperature), Counter()
    settings = {"sampling": sampling, "max_new_tokens": given.tokens, "ignore_end": True}
    greedy = {} if given.temperature else {"do_sample": False}
    options = {"do_sample": True, "temperature": given.temperature, "top_k": 0, "pad_token_id": 0} | greedy
    options |= {"max_new_tokens": given.tokens, "min_new_tokens": given.tokens}

    def plainly(prompt, seed):
        return [
            *generate(target, None, [prompt], verifier=named("token"), structure=None, seed=seed, **settings)
        ]

    def transformers(prompt, seed):
        torch.manual_seed(seed)
        with quiet():
            generated(target.network, prompt, (), **options)

    def drafted(prompt, seed):
        how = {"verifier": named(given.verifier), "structure": structure(given.draft)}
        return [*generate(target, drafter, [prompt], seed=seed, **how, **settings)]

    ways = {"plain": plainly, "transformers": transformers, "drafted": drafted}
    for way in ways.values():
        way(prompts[0][:8], 0)
    network = target.network
    network.__class__ = timed(type(network), inside, "target", clock)
    small = drafter.network if hasattr(drafter, "network") else drafter.model.network
    if not hasattr(drafter, "network"):
        fused_module.Fused = timed(fused_module.Fused, inside, "drafter", clock)
    if given.unfused or hasattr(drafter, "network"):
        fused_module.MOST = 0
        small.__class__ = timed(type(small), inside, "drafter", clock)
    seconds, steps, shares = defaultdict(lambda: np.zeros(len(prompts))), 0, Counter()
    order = random.Random(1)
    for repeat in range(given.repeats):
        for number, prompt in enumerate(prompts):
            for name in order.sample([*ways], len(ways)):
                inside.clear()
                began = clock()
                made = ways[name](prompt, repeat * len(prompts) + number)
                taken = clock() - began
                seconds[name][number] += taken
                if name == "drafted":
                    steps += len(made)
                    shares.update(inside)
                    shares["whole"] += taken
    best = min(PLAIN, key=lambda name: seconds[name].sum())
    drawn = np.random.default_rng(0).integers(0, len(prompts), (4000, len(prompts)))
    ratio = seconds[best].sum() / seconds["drafted"].sum()
    spread = seconds[best][drawn].sum(1) / seconds["drafted"][drawn].sum(1)
    low, high = np.quantile(spread, [0.025, 0.975])
    total = given.tokens * given.repeats * len(prompts)
    for name in ways:
        print(f"{name}: {total / seconds[name].sum():.1f} tokens a second")
    print(f"drafted / {best}: {ratio:.3f} [{low:.3f}, {high:.3f}], {total / steps:.2f} tokens a step")
    per = {name: 1e3 * each / steps for name, each in shares.items()}
    rest = per["whole"] - per["target"] - per["drafter"]
    parts = {name: per[name] for name in ("target", "drafter")} | {"rest": rest}
    print(f"a step: {per['whole']:.2f} ms:", ", ".join(f"{name} {each:.2f}" for name, each in parts.items()))


if __name__ == "__main__":
    main()
