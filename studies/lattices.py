"""Whole lattices of rows: every verifier that runs in lanes on all instances of one denominator.

    python studies/lattices.py [--jobs 2] > lattices.json

Of each lattice and verifier: instances, how many of them are lossless, and how many lanes were decided by
rationals. Rules declared lossy are left out of the largest lattice: every red lane is judged again by itself.
"""

import argparse
import json
import subprocess
import sys

from draftproof.theory.drafts.names import scheme
from draftproof.theory.verifiers import VERIFIERS

LATTICES = (
    ("V=2,draft=chain:2,denominator=12", True),
    ("V=2,draft=chain:2,denominator=6", False),
    ("V=3,draft=chain:1,denominator=6", False),
    ("V=3,draft=tree:2x1,denominator=6", False),
    ("V=3,draft=tree+:2x1,denominator=6", False),
    ("V=3,draft=paths:2x1,denominator=6", False),
    ("V=2,draft=paths:2x2,denominator=4", False),
)
"""Lattice, and whether rules that are declared lossy are left out."""


def rows(lattice: str, lossless: bool, jobs: int) -> list[list[object]]:
    """[lattice, verifier, instances, lossless, lanes decided by rationals] of each verifier."""
    label = scheme(lattice.split("draft=")[1].split(",")[0]).label
    fit = [rule for rule in VERIFIERS.values() if not rule.ordered and label in rule.drafts]
    rules = [rule for rule in fit if rule.carry is None]  # two calls take 40 times as long
    names = [rule.name for rule in rules if rule.lossless or not lossless]
    asked = [part for name in names for part in ("--verifier", name)]
    command = [sys.executable, "-m", "draftproof", "check", "--grid", lattice, *asked, "--json"]
    done = subprocess.run([*command, "--jobs", str(jobs)], capture_output=True, text=True, check=True)
    keys = "verifier", "instances", "lossless", "by_rationals"
    return [[lattice, *(each[key] for key in keys)] for each in json.loads(done.stdout)["summary"]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1)
    jobs = parser.parse_args().jobs
    every = [row for lattice, lossless in LATTICES for row in rows(lattice, lossless, jobs)]
    print(json.dumps(every, indent=1))


if __name__ == "__main__":
    main()
