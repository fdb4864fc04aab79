"""Seconds to a verdict, for a user's own function and for the installed transformers.

    python benchmarks/audit.py

The user's functions are those of tests/simulators/audit/foreign.py: the same law, drawn through numpy's
generator, plain floats, Python's `random` and numpy's global functions; V = 3, gamma = 2.
transformers' `_speculative_sampling` is audited at V = 4, gamma = 3, in float32 and in float64, and the C++
program of docs/other-languages.md at V = 2, gamma = 1; how many questions a second it answers follows.
"""

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from draftproof.simulators import audit
from draftproof.simulators.audit.adapters import adapted
from draftproof.simulators.audit.foreign import ForeignProgram
from tests.simulators.audit import foreign
from tests.simulators.audit.page_program import can_compile, compiled


def main() -> None:
    print(f"{'':<36}{'elapsed':>10}{'processor':>11}")
    for function in (
        foreign.good,
        foreign.good_with_floats,
        foreign.good_with_python_random,
        foreign.good_with_numpy_globals,
    ):
        _timed(function.__name__, function, vocab=3, depth=2)
    if find_spec("transformers") and find_spec("torch"):
        adapted("transformers")  # its import is not part of the audit
        for dtype in ("float32", "float64"):
            _timed(f"transformers, {dtype}", adapted("transformers", dtype=dtype), vocab=4, depth=3)
    if can_compile():
        with TemporaryDirectory() as folder:
            program = ForeignProgram(compiled(Path(folder, "block")))
            took = _timed("a C++ program", program, vocab=2, depth=1)
            print(f"{program.questions / took:,.0f} questions a second")


def _timed(name: str, target: object, vocab: int, depth: int) -> float:
    elapsed, processor = perf_counter(), process_time()
    report = audit.examine(target, vocab=vocab, depth=depth)  # type: ignore[arg-type]
    took, spent = perf_counter() - elapsed, process_time() - processor
    verdict = "lossless" if report.lossless else "not lossless"
    findings = ", ".join(dict.fromkeys(finding.kind for finding in report.findings))
    print(f"{name:<36}{took:>8.2f} s{spent:>9.2f} s   {verdict}{findings and '; ' + findings}")
    return took


if __name__ == "__main__":
    main()
