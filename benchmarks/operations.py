"""How many operations a decoding step launches, phase by phase, without CUDA graphs and kernels: counted.

    python benchmarks/operations.py [--model DIR]

On a GPU each is a launch, some microseconds of the host's time, however small the model is. Views launch
nothing and are left out. "between" is what the next step begins with, and the first step's prompt.
"""

import argparse
from collections import Counter

from torch.utils._python_dispatch import TorchDispatchMode

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.engine import loop
from draftproof.gpu.engine.loop import Clock
from draftproof.gpu.structures import structure
from draftproof.gpu.verify import named

WAYS = (("block", "chain:4"), ("traversal", "tree:2x3"), ("one-hot", "top-k:4x4x16"))
PHASES = ("draft", "target", "verify", "rest", "between")


class Count(TorchDispatchMode):
    """Counts operations by phase."""

    def __init__(self):
        super().__init__()
        self.phase, self.found = "between", Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.found[self.phase] += not func.is_view
        return func(*args, **(kwargs or {}))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model")
    target, drafter = pair(parser.parse_args().model, None, "cpu", None)
    ids = target.tokenizer.encode("def main():\n")
    count = Count()

    class Marked(Clock):
        def mark(self) -> None:
            count.phase = PHASES[len(self.marks)]
            super().mark()

    loop.Clock = Marked
    for verifier, shape in WAYS:
        count.found.clear()
        with count:
            run = loop.generate(
                target,
                drafter,
                [ids],
                verifier=named(verifier),
                structure=structure(shape),
                max_new_tokens=40,
                ignore_end=True,
            )
            steps = sum(1 for _ in run)
        each = ", ".join(f"{phase} {count.found[phase] / steps:.0f}" for phase in PHASES)
        print(f"{verifier}, {shape}, operations a step: {each}")


if __name__ == "__main__":
    main()
