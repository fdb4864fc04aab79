"""Where the processor time of `draftproof check` goes: by verifier, draft, family and operation.

    python benchmarks/check_profile.py [--share 0.1] [--beside FOLDER]

`--share`: about this share of the pieces of the standard suite, chosen at random. With `--beside` the same
pieces are judged by another checkout too, in turns, by rationals. Only verifiers that both have count, their
verdicts must be equal, and the ratio of processor times is printed. Operations are profiled apart, since a
profiler makes short functions look long.
"""

import argparse
import cProfile
import json
import pstats
import subprocess
import sys
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from random import Random
from time import process_time
from typing import Any


def work(share: float) -> list[Any]:
    """About this share of the pieces of the standard suite."""
    from draftproof.simulators.commands.check import _standard
    from draftproof.theory.verifiers import VERIFIERS
    from draftproof.theory.verifiers.token import VERIFIER

    every = _standard([(verifier, None) for verifier in VERIFIERS.values()], [(VERIFIER, None)], False)
    random = Random(5)
    return [piece for piece in every if random.random() < share]


def said(index: int, verdict: Any) -> bytes:
    """All that a verdict finds."""
    wrong = verdict.wrong and (verdict.wrong.prefix, str(verdict.wrong.got), str(verdict.wrong.want))
    figures = str(verdict.total_variation), str(verdict.expected_accepted)
    return repr((index, verdict.instance, verdict.lossless, figures, wrong, verdict.invalid)).encode()


def timed(share: float) -> dict[str, Any]:
    """Seconds and a hash of the verdicts of every verifier; its drafts drawn for it alone."""
    from dataclasses import replace

    from draftproof.simulators.laws.check import judged

    seconds: dict[str, float] = defaultdict(float)
    hashes: dict[str, Any] = defaultdict(sha256)
    for piece in work(share):
        started = process_time()
        found = judged(piece)
        seconds["all"] += process_time() - started
        for index, verdict in found:
            hashes[verdict.verifier].update(said(index, verdict))
        for pair in piece.pairs:
            alone = replace(piece, pairs=(pair,))
            started = process_time()
            judged(alone)
            seconds[pair[0].name] += process_time() - started
            seconds[f"draft {piece.draft}, V = {piece.vocab}, depth {piece.depth}"] += (
                process_time() - started
            )
    return {"seconds": dict(seconds), "hashes": {name: each.hexdigest() for name, each in hashes.items()}}


def whole(share: float, names: list[str]) -> dict[str, Any]:
    """Seconds of the pieces with the named verifiers together, and a hash of each one's verdicts."""
    from dataclasses import replace

    from draftproof.simulators.laws.check import judged

    hashes: dict[str, Any] = defaultdict(sha256)
    count, seconds = 0, 0.0
    for piece in work(share):
        asked = replace(piece, pairs=tuple(pair for pair in piece.pairs if pair[0].name in names))
        started = process_time()
        found = judged(asked)
        seconds += process_time() - started
        count += len(found)
        for index, verdict in found:
            hashes[verdict.verifier].update(said(index, verdict))
    return {
        "laws": count,
        "seconds": seconds,
        "hashes": {key: each.hexdigest() for key, each in hashes.items()},
    }


def operations(share: float) -> list[list[Any]]:
    """[function, share of the profiled time in per cent, calls] of the functions that take most."""
    from draftproof.simulators.laws.check import judged

    pieces, profile = work(share), cProfile.Profile()
    for piece in pieces:
        profile.runcall(judged, piece)
    stats: Any = pstats.Stats(profile)
    every = sum(each[2] for each in stats.stats.values())
    top = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:20]
    return [
        [f"{Path(file).stem}.{name}" if line else name, round(100 * own / every, 1), calls]
        for (file, line, name), (_, calls, own, _, _) in top
    ]


def elsewhere(folder: Path, *arguments: str) -> Any:
    """What a function of this file finds with the draftproof of a checkout."""
    command = [sys.executable, __file__, "--root", str(folder), *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--root", help=argparse.SUPPRESS)
    parser.add_argument("--names", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.root:
        sys.path.insert(0, arguments.root)
        from draftproof.theory.verifiers import VERIFIERS

        names = arguments.names.split(",") if arguments.names else []
        print(json.dumps(whole(arguments.share, names) if names else list(VERIFIERS)))
        return
    if arguments.beside:
        here, there = Path(__file__).parents[1], arguments.beside.resolve()
        names = [name for name in elsewhere(here) if name in set(elsewhere(there))]
        for _ in range(3):
            both = [
                elsewhere(f, "--share", str(arguments.share), "--names", ",".join(names))
                for f in (there, here)
            ]
            assert both[0]["hashes"] == both[1]["hashes"], "the verdicts differ"
            before, now = (each["seconds"] for each in both)
            print(
                f"{both[0]['laws']:,} laws: {before:.2f} s there, {now:.2f} s here, ratio {now / before:.2f}"
            )
        return
    print(
        json.dumps(
            {**timed(arguments.share)["seconds"], "operations": operations(arguments.share / 4)}, indent=1
        )
    )


if __name__ == "__main__":
    main()
