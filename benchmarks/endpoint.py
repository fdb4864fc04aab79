"""How often `draftproof endpoint` rejects a right server, and what the rejection of a lossy one costs.

    python -m benchmarks.endpoint alone --runs 200 --tokens 1000 --out alone.jsonl
    python -m benchmarks.endpoint against --runs 200 --tokens 500 --out against.jsonl
    python -m benchmarks.endpoint lossy --runs 20 --out lossy.jsonl
    python -m benchmarks.endpoint lossy --runs 20 --top-k 64 --out lossy_64.jsonl

The server is the project's own; run number s is on one that is seeded with s. `alone` and `against` are on
block verification on chain:3: every test of one server, and the server beside itself (--against). `lossy` is
`hsd-released` on chain:2, after a prompt where one step is a total variation of 0.057 off the target. Each
run is a line of the file; a run that has one is not repeated. The summary is printed at the end.
"""

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any

import torch

from draftproof.gpu.checks.models.lossy import LOSSY
from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.serve.answers import Engine
from draftproof.gpu.serve.app import local
from draftproof.gpu.verify import named
from draftproof.simulators.endpoint.client import Client
from draftproof.simulators.endpoint.compare import Comparison
from draftproof.simulators.endpoint.laws import Setting
from draftproof.simulators.endpoint.report import Report
from draftproof.simulators.endpoint.run import Run
from draftproof.simulators.endpoint.session import Plan

FAR = "from importlib import _bootstrap_extern"


def report(kind: str, url: str, tokens: int, top_k: int) -> Report:
    """The report of one run."""

    def client() -> Client:
        return Client(url, concurrency=1)

    if kind == "lossy":
        plan = Plan(prompts=(FAR,), tokens=tokens, length=2, setting=Setting(top_k=top_k), settings=False)
        return Run(client(), plan, lambda *_: None).go()
    plan = Plan(tokens=tokens)
    if kind == "alone":
        return Run(client(), plan, lambda *_: None).go()
    return Comparison((client(), client()), plan, lambda *_: None).go()


def line(seed: int, found: Report) -> dict[str, Any]:
    """What is kept of a report."""
    return {
        "seed": seed,
        "found": found.found,
        "tokens": found.tokens,
        "seconds": found.seconds,
        "log_e": max(each.log_e for each in found.results if each.log_e is not None),
        "complete": found.stopped is None,
    }


def main() -> None:
    """Runs what the file does not have yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kind", choices=("alone", "against", "lossy"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--tokens", type=int, help="2,000, or 20,000 of the lossy verifier")
    parser.add_argument("--top-k", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    lossy = options.kind == "lossy"
    tokens = options.tokens or (20_000 if lossy else 2000)
    done = [json.loads(each) for each in options.out.read_text().splitlines()] if options.out.exists() else []
    specimens = {each.verifier.name: each.verifier for each in LOSSY}
    verifier = specimens["hsd-released"] if lossy else named("block")
    shipped, draft = pair(None, None, "cpu"), structure("chain:2" if lossy else "chain:3")
    torch.set_num_threads(1)
    for seed in sorted({*range(options.runs)} - {each["seed"] for each in done}):
        made = Engine("shipped", *shipped, verifier, draft, random=Random(seed))
        with local(made.answer, "shipped") as url:
            done.append(line(seed, report(options.kind, url, tokens, options.top_k)))
        with options.out.open("a") as file:
            file.write(json.dumps(done[-1]) + "\n")
    used, rejected = sorted(each["tokens"] for each in done), sum(bool(each["found"]) for each in done)
    print(f"{len(done)} runs, {rejected} rejected; {sum(used):,} tokens, ", end="")
    print(f"of a run {used[0]:,} to {used[-1]:,}, median {used[len(used) // 2]:,}; ", end="")
    seconds = [each["seconds"] for each in done]
    print(f"longest run {max(seconds):.0f} s, all {sum(seconds):,.0f} s; ", end="")
    print(f"largest log e-value {max(x['log_e'] for x in done):.2f}")


if __name__ == "__main__":
    main()
