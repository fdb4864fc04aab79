"""The time that the installed pytest plugin adds to a test run that does not use it.

    python benchmarks/pytest_start.py [--runs 15]

The same empty test file runs alternately with and without the plugin, each time in a new process.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter


def seconds(folder: Path, *options: str) -> float:
    """The time that one run of an empty test takes, start of Python included."""
    command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", *options, str(folder)]
    started = perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_empty.py").write_text("def test_empty(): pass\n")
        pairs = [(seconds(folder, "-p", "no:draftproof"), seconds(folder)) for _ in range(runs)]
    without, plugged = (median(times) for times in zip(*pairs, strict=True))
    added = median(each - bare for bare, each in pairs)
    print(f"without {without:.3f} s, with {plugged:.3f} s: added {added:+.3f} s, median of {runs} pairs")


if __name__ == "__main__":
    main()
