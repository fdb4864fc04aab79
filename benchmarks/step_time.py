"""Engine time outside the models in a step of decoding, at two commits in turns: ratios.

    python -m benchmarks.step_time --before COMMIT [--repeats 9] [--tokens 96]

The earlier commit is checked out into a temporary worktree. Each side is a process with one thread that
decodes the same prompts with the shipped pair; they take turns, way by way. A step's time is processor time
without what is spent inside the two networks; a side's figure is the lower quartile over the steps of its
turn, which other work on the machine moves least.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HOUSE = Path(__file__).parents[1]
WAYS = (
    ("token", "chain:4", {}),
    ("block", "chain:4", {}),
    ("block", "chain:4", {"temperature": 0.7}),
    ("block", "chain:4", {"temperature": 0.0}),
    ("block", "chain:4", {"top_p": 0.9}),
    ("traversal", "tree:2x3", {}),
    ("traversal", "tree:2x3", {"top_p": 0.9}),
    ("traversal", "paths:3x4", {}),
    ("one-hot", "top-k:4x4x16", {}),
)
WORKER = """
import json, statistics, sys, time
import torch
torch.set_num_threads(1)
from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.verify import named

target, drafter = pair(None, None, "cpu")
inside = [0.0]

def timed(network):
    class Timed(type(network)):
        def __call__(self, *given, **options):
            began = time.thread_time()
            try:
                return super().__call__(*given, **options)
            finally:
                inside[0] += time.thread_time() - began
    network.__class__ = Timed

timed(target.network)
timed(drafter.model.network)
for line in sys.stdin:
    verifier, draft, settings, prompt, tokens, seed = json.loads(line)
    steps = generate(
        target, drafter, [target.tokenizer.encode(prompt)], verifier=named(verifier),
        structure=structure(draft), sampling=Sampling(**settings), max_new_tokens=tokens, ignore_end=True,
        seed=seed,
    )
    found = []
    while True:
        inside[0], began = 0.0, time.thread_time()
        if next(steps, None) is None:
            break
        found.append(time.thread_time() - began - inside[0])
    print(json.dumps(statistics.quantiles(found[1:])[0]), flush=True)  # the first reads the prompt
"""
PROMPT = "import os\n\n\nclass "


class Side:
    """A process that decodes with the code of one checkout."""

    def __init__(self, tree: Path) -> None:
        paths = os.pathsep.join([str(tree), *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-c", WORKER]
        environment = {**os.environ, "PYTHONPATH": paths}
        self.process = subprocess.Popen(
            command, cwd=tree, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def milliseconds(self, *asked: object) -> float:
        """The lower quartile of a step's time outside the models."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return 1e3 * json.loads(self.process.stdout.readline())


def main() -> None:
    """Prints both times and the ratio for each way."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--before", required=True, metavar="COMMIT")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--ways", type=int, help="only the first of them")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        git = ["git", "-C", str(HOUSE), "worktree"]
        subprocess.run(
            [*git, "add", "--detach", f"{folder}/before", given.before], check=True, capture_output=True
        )
        try:
            sides = [Side(tree) for tree in (Path(folder, "before"), HOUSE)]
            print(f"{'verifier, draft, settings':44} ms at {given.before:9} ms now  ratio (its range)")
            for verifier, draft, settings in WAYS[: given.ways]:
                turns = [
                    [
                        side.milliseconds(verifier, draft, settings, PROMPT, given.tokens, seed)
                        for side in sides
                    ]
                    for seed in range(given.repeats + 1)
                ][1:]  # the first warms up
                ratios = [now / before for before, now in turns]
                before, now = (statistics.median(each) for each in zip(*turns, strict=True))
                named = (
                    f"{verifier}, {draft}, {', '.join(f'{k} {v}' for k, v in settings.items()) or 'plain'}"
                )
                middle = statistics.median(ratios)
                spread = f"({min(ratios):.2f} to {max(ratios):.2f})"
                print(f"{named:44} {before:15.2f} {now:6.2f}  {middle:.2f} {spread}", flush=True)
            for side in sides:
                side.process.communicate()  # closes its input, which ends it
        finally:
            subprocess.run([*git, "remove", "--force", f"{folder}/before"], check=True, capture_output=True)


if __name__ == "__main__":
    main()
