"""Which independent siblings make the optimum of a node largest? Strata of powers of q, beside a bound.

A draft knows q, not p. Strata of q^power are tried with several powers; power 1 is the draft that ships. A
bound: whatever the siblings' rows are, a rule accepts at most sum min(p, pi). In hindsight the best of all pi
that are those of strata times a function of their octave, with sum pi = K on average, is above strata.

python -m studies.best_draft rows.npz [ROWS]
"""

import json
import sys
from pathlib import Path

import numpy as np

from draftproof.simulators.study import designs
from draftproof.simulators.study.recorded import Recorded
from draftproof.theory.shared.strata import inclusion

POWERS = 0.7, 0.85, 1.0, 1.2, 1.5
COUNTS = 2, 4, 8


def by_power(p: np.ndarray, q: np.ndarray) -> list[list[float]]:
    """[power][count]: the optimum of strata of q^power."""
    rows = [weights / weights.sum() for weights in (q**power for power in POWERS)]
    return [designs.stratified(p, row, COUNTS, np.random.default_rng(0)) for row in rows]


def hindsight(p: np.ndarray, q: np.ndarray, count: int) -> float:
    """The most that sum min(p, m pi) is on average over rows p, q [n, V], pi that of strata and m a function
    of its octave, with sum m pi = K on average: the last unit is worth the same in every octave.
    """
    pi = np.array([inclusion(row, count) for row in q])
    octave = np.floor(np.log2(np.maximum(pi, 2.0**-40)))
    parts = []
    for each in np.unique(octave):
        here = octave == each
        ratio, mass = p[here] / np.maximum(pi[here], 1e-300), pi[here]
        order = np.argsort(-ratio)
        parts.append((ratio[order], np.cumsum(mass[order]), mass[order]))

    def levels(price: float) -> list[float]:
        return [float(r[min(np.searchsorted(cum, price * cum[-1]), len(r) - 1)]) for r, cum, _ in parts]

    low, high = 0.0, 1.0
    for _ in range(40):
        price = (low + high) / 2
        spent = sum(m * cum[-1] for m, (_, cum, _) in zip(levels(price), parts, strict=True)) / len(p)
        low, high = (price, high) if spent > count else (low, price)
    kept = zip(levels(low), parts, strict=True)  # sum m pi >= K
    return float(sum((np.minimum(r, m) * mass).sum() for m, (r, _, mass) in kept)) / len(p)


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
