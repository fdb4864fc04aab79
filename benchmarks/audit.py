"""Seconds to a verdict on a user's own function, as an engineer would write it.

    python benchmarks/audit.py

The functions are those of tests/simulators/audit/foreign.py: one law, drawn through numpy's
generator, plain floats, Python's `random` and numpy's global functions; V = 3, gamma = 2.
"""

from time import perf_counter

from simulators import audit
from tests.simulators.audit import foreign


def main() -> None:
    for function in (
        foreign.good,
        foreign.good_with_floats,
        foreign.good_with_python_random,
        foreign.good_with_numpy_globals,
    ):
        started = perf_counter()
        report = audit.examine(function, vocab=3, depth=2)
        took = perf_counter() - started
        print(f"{function.__name__:<28}{took:>7.2f} s   {'lossless' if report.lossless else 'not lossless'}")


if __name__ == "__main__":
    main()
