"""Where the processor time of `draftproof check` goes: by verifier, draft, family and operation.

    python benchmarks/check_profile.py [--share 0.1] [--beside FOLDER]

`--share`: about this share of the pieces of the standard suite, chosen at random; large grids are judged in
lanes, as `check` does. With `--beside` the same pieces are judged by another checkout too, in turns, by
rationals. Only verifiers that both have count, their verdicts must be equal, and the ratio of processor times
is printed. Operations are profiled apart, since a profiler makes short functions look long.
"""

import argparse
import cProfile
import json
import pstats
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random
from time import process_time
from typing import Any


def work(share: float, lanes: bool = False) -> list[Any]:
    """About this share of the pieces of the standard suite."""
    from draftproof.simulators.commands.check import MANY, _standard
    from draftproof.theory.verifiers import VERIFIERS
    from draftproof.theory.verifiers.token import VERIFIER

    every = _standard(
        [(verifier, None) for verifier in VERIFIERS.values()],
        [(VERIFIER, None)],
        False,
        MANY if lanes else None,
    )
    random = Random(5)
    return [piece for piece in every if random.random() < share]


def said(index: int, verdict: Any) -> bytes:
    """All that a verdict finds."""
    wrong = verdict.wrong and (verdict.wrong.prefix, str(verdict.wrong.got), str(verdict.wrong.want))
    figures = str(verdict.total_variation), str(verdict.expected_accepted)
    return repr((index, verdict.instance, verdict.lossless, figures, wrong, verdict.invalid)).encode()


def timed(share: float) -> list[dict[str, Any]]:
    """Tables of laws and seconds: by verifier, draft and family, and the slowest twentieth of instances."""
    from draftproof.simulators.laws import check

    laws: dict[tuple[str, str], int] = Counter()
    seconds: dict[tuple[str, str], float] = Counter()
    each_instance: list[float] = []
    judge_any = check.judge_any

    def count(key: str, name: str, number: int, spent: float) -> None:
        laws[key, name] += number
        seconds[key, name] += spent

    for piece in work(share, lanes=True):
        spent: dict[int, float] = Counter()  # of each instance, by all verifiers

        def judge(given: Any, verifier: Any, law: Any = None, spent: Any = spent) -> Any:
            started = process_time()
            verdict = judge_any(given, verifier, law)
            found = process_time() - started
            spent[id(given)] += found
            count("verifier", verifier.name, 1, found)
            return verdict

        check.judge_any = judge_any if piece.lanes else judge
        started = process_time()
        try:
            if piece.lanes:
                for pair in piece.pairs:
                    begun = process_time()
                    check.judged(replace(piece, pairs=(pair,)))
                    count("verifier", pair[0].name, len(piece.indices), process_time() - begun)
            else:
                check.judged(piece)
        finally:
            check.judge_any = judge_any
        found, number = process_time() - started, len(piece.indices) * len(piece.pairs)
        name = getattr(piece.family, "name", "") or getattr(piece.family[0], "name", "")
        count("draft", f"{piece.draft}, depth {piece.depth}", number, found)
        count("family", " ".join(name.split(" #")[:1]), number, found)
        lanes = piece.lanes and not check._parts(piece)
        count("numbers", "lanes" if lanes else "rationals, one by one", number, found)
        each_instance += [found / len(piece.indices)] * len(piece.indices) if piece.lanes else spent.values()
    tables = []
    for key in ("numbers", "verifier", "draft", "family"):
        every = sum(spent for (kind, _), spent in seconds.items() if kind == key)
        rows = [
            [name, laws[key, name], round(spent, 2), round(100 * spent / every, 1),
             round(1e6 * spent / max(laws[key, name], 1))]
            for (kind, name), spent in sorted(seconds.items(), key=lambda item: -item[1])
            if kind == key
        ]  # fmt: skip
        tables.append(
            {"caption": f"by {key}", "columns": [key, "laws", "seconds", "%", "us a law"], "rows": rows}
        )
    tables[-1]["caption"], tables[-1]["rows"] = (
        "the twelve families that take longest",
        tables[-1]["rows"][:12],
    )
    slowest = sorted(each_instance, reverse=True)
    share_of = round(100 * sum(slowest[: len(slowest) // 20]) / sum(slowest), 1)
    tables.append(
        {
            "caption": "the slowest twentieth of the instances",
            "columns": ["instances", "% of the time"],
            "rows": [[len(slowest) // 20, share_of]],
        }
    )
    return tables


def whole(share: float, names: list[str]) -> dict[str, Any]:
    """Seconds of the pieces with the named verifiers together, and a hash of each one's verdicts."""
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

    pieces, profile = work(share, lanes=True), cProfile.Profile()
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
    share = arguments.share / 16
    profiled = {"caption": f"by operation: own time in a profile of {100 * share:.0f} % of the pieces",
                "columns": ["function", "%", "calls"], "rows": operations(share)}  # fmt: skip
    print(json.dumps([*timed(arguments.share), profiled], indent=1))


if __name__ == "__main__":
    main()
