"""vLLM's dual-key watermark by hand, in numpy: a second route, which shares no code with draftproof or vLLM.

    python studies/watermark_by_hand.py

Drafts are argmax of log q + Gumbel noise of key A and the last token, the extra token the same under key B;
a context that the text, or this block, had before is drawn freely (`single_turn`), or not spared (`none`).
Token verification is what vLLM allows, block verification what it refuses. Each text has new keys. The
instance is docs/watermark.json; the law of the first four tokens should be the target's.
"""

from collections import Counter
from math import sqrt

import numpy as np

TEXTS, LENGTH, GAMMA = 60_000, 4, 2
P = {-1: np.array([3, 2]) / 5, 0: np.array([4, 1]) / 5, 1: np.array([1, 4]) / 5}
Q = {-1: np.array([1, 4]) / 5, 0: np.array([2, 3]) / 5, 1: np.array([3, 2]) / 5}


def text(rng, block, spare):
    noise, out, seen = {}, [], []  # `seen`: the contexts of the text's tokens

    def token(row, key, context, used):
        if spare and context in used:
            return int(rng.random() < row[1])
        u = noise.setdefault((key, context), rng.random(2))
        with np.errstate(divide="ignore"):
            return int(np.argmax(np.log(row) - np.log(-np.log(u))))

    while len(out) < LENGTH:
        at = [out[-1] if out else -1]
        for _ in range(GAMMA):
            at.append(token(Q[at[-1]], "A", at[-1], seen + at[:-1]))
        w, kept, residual = [1.0], GAMMA, P[at[-1]]
        for i, x in enumerate(at[1:]):
            ratio = P[at[i]][x] / Q[at[i]][x]
            w.append(min(1.0, w[-1] * ratio))
            if not block and rng.random() >= ratio:
                kept, residual = i, np.maximum(P[at[i]] - Q[at[i]], 0)
                break
        if block and rng.random() >= w[-1]:
            for i in reversed(range(GAMMA)):
                kept, residual = i, np.maximum(w[i] * P[at[i]] - Q[at[i]], 0)
                if i == 0 or rng.random() < residual.sum() / (residual.sum() + 1 - w[i]):
                    break
        extra = token(residual / residual.sum(), "B", at[kept], seen + at[:kept])
        seen += at[: kept + 1]
        out += [*at[1 : kept + 1], extra]
    return tuple(out[:LENGTH])


def law(prefix):
    return np.prod([P[before][x] for before, x in zip((-1, *prefix), prefix, strict=False)])


def main():
    for name, block, spare in (
        ("token verification", False, True),
        ("block verification", True, True),
        ("token verification, contexts not spared", False, False),
    ):
        rng = np.random.default_rng(7)
        found = Counter(text(rng, block, spare) for _ in range(TEXTS))
        off = sum(abs(found[x] / TEXTS - law(x)) for x in np.ndindex((2,) * LENGTH)) / 2
        z, worst = max(
            (abs(found[x] / TEXTS - law(x)) / sqrt(law(x) * (1 - law(x)) / TEXTS), x)
            for x in np.ndindex((2,) * LENGTH)
        )
        print(f"{name}: total variation {off:.4f}, largest |z| {z:.1f} of 16, at {worst}")


if __name__ == "__main__":
    main()
