"""What was tried at a node beside stratified drafts, on rows that `draftproof gpu record` wrote.

    python benchmarks/tried.py ROWS.npz ..

One table a file: two siblings without replacement, judged by recursive rejection, by the priority rule
(`second`) and at their optimum, beside i.i.d. siblings at theirs and
strata; and sum min(p, pi) of K siblings, pi = min(1, c q) beside pi fitted to how p / q is distributed among
tokens of like q in the other half of the prompts.
"""

import argparse
import json

import numpy as np

from draftproof.simulators.study import designs
from draftproof.simulators.study.recorded import half_width
from draftproof.theory.rows import Row, minimum, possible, ratio, share
from draftproof.theory.transport.single_step import alpha

SIBLINGS = 2, 4, 8
LEVELS = np.linspace(0, 1, 201)
OCTAVES = 20
"""Classes of q by powers of 2, the last one open."""


def second(t: Row, q: Row) -> Row:
    """How much of each token two siblings without replacement keep, in one pass over the sorted tokens: x and
    y are both drawn with q(x) q(y) (1 / (1 - q(x)) + 1 / (1 - q(y))), so that two sums over the tokens before
    x are enough. Every token has q < 1.

    >>> from draftproof.theory.numbers import exact
    >>> second((exact("1/2"), exact("1/3"), exact("1/6")), (exact("1/5"), exact("1/5"), exact("3/5")))
    (1/2, 1/3, 912/5555)
    """
    odds = [x / (1 - x) for x in q]
    both = sum(odds[1:], odds[0])
    pi = [x * (1 + both - part) for x, part in zip(q, odds, strict=True)]
    kept = [0 * x for x in t]
    masses, parts = 0 * both, 0 * both
    drafted = [x for x in range(len(q)) if possible(q[x])]
    for x in sorted(drafted, key=lambda x: ratio(t[x], pi[x]), reverse=True):
        reach = pi[x] - odds[x] * masses - q[x] * parts
        kept[x] = minimum(t[x], reach)
        rate = share(t[x], reach)
        masses, parts = masses + q[x] * rate, parts + odds[x] * rate
    return tuple(kept)


def pair(p: np.ndarray, q: np.ndarray, rng: np.random.Generator) -> list[float]:
    """What two siblings accept, by design and rule."""
    t, r = tuple(p.tolist()), tuple(q.tolist())
    without = sum(second(t, r)), alpha(t, r, 2, False)[0]
    columns = designs.rrs, designs.alpha, designs.stratified
    rrs, iid, strata = (column(p, q, (2,), rng)[0] for column in columns)
    return [rrs, *map(float, without), iid, strata]


def octave(q: np.ndarray) -> np.ndarray:
    return np.clip(-np.log2(q), 0, OCTAVES - 1).astype(int)


def fitted(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Quantiles of p / q by class of q, each row one class: [OCTAVES, LEVELS]."""
    kind, ratio = octave(q[q > 0]), p[q > 0] / q[q > 0]
    out = np.ones((OCTAVES, len(LEVELS)))
    for each in range(OCTAVES):
        if (kind == each).sum() >= 20:
            out[each] = np.quantile(ratio[kind == each], LEVELS)
    return out


def inclusion(q: np.ndarray, quantiles: np.ndarray, count: int) -> np.ndarray:
    """The pi of sum `count` and largest mean sum min(p, pi): P(p > pi) is one number for all with pi < 1."""
    kind, low, high, pi = octave(np.maximum(q, 1e-300)), 0.0, 1.0, q
    for _ in range(30):
        level = (low + high) / 2
        at = np.array([np.interp(level, LEVELS, row) for row in quantiles])
        pi = np.asarray(np.minimum(1, q * at[kind]))
        low, high = (level, high) if pi.sum() < count else (low, level)
    return pi * min(1.0, count / pi.sum())


def kept(p: np.ndarray, q: np.ndarray, quantiles: np.ndarray) -> list[float]:
    """sum min(p, pi) for each K, both ways."""
    out = []
    for k in SIBLINGS:
        out += [designs.bound(p, q, (k,), np.random.default_rng(0))[0]]
        out += [float(np.minimum(p, inclusion(q, quantiles, k)).sum())]
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="+", metavar="ROWS.npz")
    tables = []
    for path in parser.parse_args().rows:
        with np.load(path) as file:
            p, q, prompt = (file[name] for name in ("target", "proposal", "sequence"))
        p, q = (each.astype(float) / each.sum(axis=1, keepdims=True, dtype=float) for each in (p, q))
        rng = np.random.default_rng(0)
        halves = [fitted(p[prompt % 2 != side], q[prompt % 2 != side]) for side in (0, 1)]
        values = [pair(a, b, rng) + kept(a, b, halves[at % 2]) for a, b, at in zip(p, q, prompt, strict=True)]
        found = np.array(values)
        wide = half_width(found, prompt)
        assert wide is not None
        names = [
            "2 without replacement, rrs",
            "2 without replacement, priority",
            "2 without replacement, alpha*",
            "2 i.i.d., alpha*",
            "2 strata, priority",
        ]
        for k in SIBLINGS:
            names += [f"{k}, sum min(p, pi), pi = min(1, c q)", f"{k}, sum min(p, pi), pi fitted"]
        rows = [
            [name, f"{mean:.4f} ± {w:.4f}"] for name, mean, w in zip(names, found.mean(0), wide, strict=True)
        ]
        caption = f"{path.rpartition('/')[2]}: {len(p)} rows of {len(set(prompt.tolist()))} prompts"
        tables.append({"caption": caption, "columns": ["siblings", "accepted"], "rows": rows})
    print(json.dumps({"tables": tables}, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
