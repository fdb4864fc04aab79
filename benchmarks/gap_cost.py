"""Cost of E[tau] and of the optima: CPU milliseconds per instance, in closed form and by enumeration.

    python -m benchmarks.gap_cost [--count 12]

Instances are those of the standard study at temperature 1. Both ways compute the same number, and the results
are compared. Caches in `theory` make later computations cheaper, including enumerations.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from draftproof.simulators.enumerate import emission
from draftproof.simulators.optimum import drafted, full_information, stateless
from draftproof.simulators.study.configuration import read
from draftproof.simulators.study.gap import expected
from draftproof.simulators.study.plan import METRICS
from draftproof.theory.closed_forms import FORMS
from draftproof.theory.instance import Instance

STUDY = Path(__file__).parents[1] / "studies" / "standard.toml"


def measured(instances: Sequence[Instance], action: Callable[[Instance], Any]) -> tuple[float, list[Any]]:
    """(CPU milliseconds per instance, results)."""
    started = process_time()
    found = [action(instance) for instance in instances]
    return 1e3 * (process_time() - started) / len(instances), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=12)
    count = parser.parse_args().count
    print(f"{'draft':<58}{'verifier':<20}{'closed':>9}{'enumerated':>12}{'ratio':>8}")
    seen = set()
    for entry in read(STUDY, METRICS):
        for family in entry.families():
            name = str(family.draft)
            if family.temperature != 1 or name in seen:
                continue
            seen.add(name)
            instances = [family.instances[i] for i in range(count)]
            for verifier in entry.fitting(family.draft):
                if (verifier.name, family.draft.label) not in FORMS:
                    continue
                closed, formed = measured(instances, lambda each, v=verifier: expected(each, v))
                slow, counted = measured(
                    instances, lambda each, v=verifier: emission(each, v).expected_accepted
                )
                assert formed == counted
                print(
                    f"{name:<58}{verifier.name:<20}{closed:9.3f}{slow:12.3f}{slow / closed:8.1f}", flush=True
                )
            for what, optimum in (("full information", full_information), ("stateless", stateless)):
                optimum(instances[-1])  # imports the solver
                drafted.cache_clear()
                cost, _ = measured(instances, optimum)
                print(f"{name:<58}{what:<20}{cost:9.3f}", flush=True)


if __name__ == "__main__":
    main()
