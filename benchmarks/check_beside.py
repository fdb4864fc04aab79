"""Processor time of `draftproof check` in another checkout and in this one, on the same families.

    python benchmarks/check_beside.py FOLDER [--only WORDS | --whole]

A checkout that has lanes judges large grids in them. Left out are families that one of the two lacks, or of
which it judges half by symmetry. `--only`: families whose names hold these words. `--whole`: instead the
whole command, each checkout on its own suite, in turns, and again with the rules that both have.
"""

import argparse
import inspect
import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from time import process_time
from typing import Any


def measured(only: str) -> dict[str, Any]:
    """Family -> [laws, seconds], of the draftproof that is imported."""
    from draftproof.simulators.commands import check as command
    from draftproof.simulators.laws.check import judged
    from draftproof.theory.verifiers import VERIFIERS
    from draftproof.theory.verifiers.token import VERIFIER

    lanes = [command.MANY] if "lanes" in inspect.signature(command._standard).parameters else []
    every = [(verifier, None) for verifier in VERIFIERS.values()]
    laws = Counter[str]()
    seconds = defaultdict[str, float](float)
    for piece in command._standard(every, [(VERIFIER, None)], False, *lanes):
        family: Any = piece.family
        name = getattr(family, "name", "") or family[0].name.partition(" #")[0]
        if only in name and not getattr(family, "symmetric", False):
            started = process_time()
            judged(piece)
            seconds[name] += process_time() - started
            laws[name] += len(piece.indices) * len(piece.pairs)
    return {name: [laws[name], spent] for name, spent in seconds.items()}


def elsewhere(folder: Path, only: str) -> Any:
    """What `measured` finds with the draftproof of a checkout."""
    command = [sys.executable, __file__, str(folder), "--only", only, "--inside"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


WHOLE = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
from time import process_time
command = importlib.import_module("draftproof.simulators.commands.check")
names = sys.argv[2:]
if not names:
    sys.exit(" ".join(command.VERIFIERS))
command.VERIFIERS = {name: command.VERIFIERS[name] for name in names}
started = process_time()
command.check.main(["--jobs", "1", "--json"], standalone_mode=False)
sys.exit(str(process_time() - started))
"""


def whole(roots: tuple[Path, Path]) -> None:
    """Prints laws and seconds of `draftproof check` in both checkouts, of all rules and of common ones."""

    def run(root: Path, names: list[str]) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", WHOLE, str(root), *names], capture_output=True, text=True, check=False
        )
        return done.stdout, done.stderr.splitlines()[-1]

    rules = [run(root, [])[1].split() for root in roots]
    both = [name for name in rules[1] if name in rules[0]]
    for heading, chosen in (("all rules", rules), ("the rules of both", [both, both])):
        for _ in range(2):
            spent = []
            for root, names in zip(roots, chosen, strict=True):
                answer, seconds = run(root, names)
                spent.append(float(seconds))
                laws = sum(each["instances"] for each in json.loads(answer)["summary"])
                print(f"{heading}, {root.name}: {len(names)} rules, {laws:,} laws in {spent[-1]:.1f} s")
            print(f"ratio {spent[1] / spent[0]:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        sys.path.insert(0, str(given.folder))
        print(json.dumps(measured(given.only)))
        return
    roots = given.folder.resolve(), Path(__file__).parents[1]
    if given.whole:
        whole(roots)
        return
    found = [elsewhere(root, given.only) for root in roots]
    spent = []
    for root, each in zip(roots, found, strict=True):
        both = [each[name] for name in each if all(name in other for other in found)]
        spent.append(sum(seconds for _, seconds in both))
        print(f"{root.name}: {sum(laws for laws, _ in both):,} laws in {spent[-1]:.2f} s")
    print(f"ratio {spent[1] / spent[0]:.2f}")


if __name__ == "__main__":
    main()
