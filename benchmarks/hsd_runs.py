"""What the published runs of HSD on EAGLE-3's drafts show: block efficiency with intervals over questions.

    git clone https://github.com/ZhouYuxuanYX/Hierarchical-Speculative-Decoding
    python benchmarks/hsd_runs.py Hierarchical-Speculative-Decoding/EAGLE-3H/results

Every question is one cluster: the ratio of totals is bootstrapped over questions, the mean over questions is
compared question by question.
"""

import json
import sys
from pathlib import Path
from random import Random
from statistics import mean, stdev

RUNS = {
    "eagle": "{machine}_eagle/llama38b2_40-temperature-1.0_ea_info.jsonl",
    "hsd": "{machine}_HSD/llama38b2_40-temperature-1.0_ea_hsd_info.jsonl",
}
"""Name -> the file of one run, a line for each question."""

SAMPLES = 10_000


def accepted(path: Path) -> list[list[int]]:
    """The accepted tokens of every step, question by question."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["accept_length"][0] for line in lines if line.strip()]


def ratio(steps: list[list[int]]) -> float:
    """The ratio of totals: accepted tokens over steps."""
    return sum(map(sum, steps)) / sum(map(len, steps))


def main(folder: Path) -> None:
    """Prints one JSON document for each machine that the runs were made on."""
    for machine in ("h100", "h200"):
        eagle, hsd = (accepted(folder / name.format(machine=machine)) for name in RUNS.values())
        differences = [mean(b) - mean(a) for a, b in zip(eagle, hsd, strict=True)]
        rng, resampled = Random(0), []
        for _ in range(SAMPLES):
            chosen = [rng.randrange(len(eagle)) for _ in eagle]
            resampled.append(ratio([hsd[i] for i in chosen]) - ratio([eagle[i] for i in chosen]))
        resampled.sort()
        low, high = resampled[SAMPLES // 40], resampled[-SAMPLES // 40 - 1]
        answer = {
            "machine": machine,
            "questions": len(eagle),
            "ratio of totals": [round(ratio(each), 3) for each in (eagle, hsd)],
            "its difference, 95 % over questions": [round(each, 2) for each in (low, high)],
            "mean over questions": [round(mean(map(mean, each)), 3) for each in (eagle, hsd)],
            "its difference, standard error": [
                round(mean(differences), 3),
                round(stdev(differences) / len(differences) ** 0.5, 3),
            ],
        }
        print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
