"""Which independent siblings make the optimum of a node largest? Strata of powers of q, beside a bound.

A draft knows q, not p. Strata of q^power are tried with several powers; power 1 is the draft that ships. The
bound: whatever the K siblings' rows are, a rule accepts at most sum min(p, pi), and where pi(x) is a function
of q(x) alone (here of its octave), none with sum pi = K on average has more than the best in hindsight.

python -m studies.best_draft rows.npz [ROWS]
"""

import json
import sys
from pathlib import Path

import numpy as np

from draftproof.simulators.study import designs
from draftproof.simulators.study.recorded import Recorded

POWERS = 0.7, 0.85, 1.0, 1.2, 1.5
COUNTS = 2, 4, 8


def by_power(p: np.ndarray, q: np.ndarray) -> list[list[float]]:
    """[power][count]: the optimum of strata of q^power."""
    rows = [weights / weights.sum() for weights in (q**power for power in POWERS)]
    return [designs.stratified(p, row, COUNTS, np.random.default_rng(0)) for row in rows]


def hindsight(p: np.ndarray, q: np.ndarray, count: int) -> float:
    """The most that sum min(p, pi) is on average over the rows p, q [n, V] if pi is a function of q's octave.

    The last unit of pi is worth the same in all octaves: there as many of the p are larger than it.
    """
    octave = np.floor(np.log2(np.maximum(q, 2.0**-40)))
    sorted_p = [np.sort(p[octave == k])[::-1] for k in np.unique(octave)]
    low, high = 0.0, 1.0
    for _ in range(50):
        price = (low + high) / 2
        levels = [each[min(int(price * len(each)), len(each) - 1)] for each in sorted_p]
        spent = sum(level * len(each) for level, each in zip(levels, sorted_p, strict=True)) / len(p)
        low, high = (price, high) if spent > count else (low, price)
    levels = [each[min(int(low * len(each)), len(each) - 1)] for each in sorted_p]  # sum pi >= count
    gained = (np.minimum(each, level).sum() for level, each in zip(levels, sorted_p, strict=True))
    return float(sum(gained)) / len(p)


def main(path: str, count: int | None) -> dict[str, object]:
    """Means over the rows, for each number of siblings."""
    recorded = Recorded(Path(path))
    chosen = set(recorded.chosen(count).tolist())
    pairs = [pair for number, pair in enumerate(recorded.rows()) if number in chosen]
    p, q = (np.array(rows) for rows in zip(*pairs, strict=True))
    means = np.mean([by_power(*pair) for pair in pairs], axis=0)
    return {
        "rows": len(pairs),
        "siblings": COUNTS,
        "powers": {power: mean.round(4).tolist() for power, mean in zip(POWERS, means, strict=True)},
        "bound": [round(hindsight(p, q, each), 4) for each in COUNTS],
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)))
