"""Verifiers that are lossless although they look odd: none may be flagged."""

import numpy as np

from draftproof.theory.drafts.paths import Paths
from draftproof.theory.verifiers import VERIFIERS
from tests.mutants.edits import CHAINS, DOUBLE, FLAT, PLAIN
from tests.mutants.registry import mutant, rule


def drawn(row, rng):
    """A token from a row of weights."""
    return int(rng.choice(len(row), p=row / row.sum()))


def residual(p, q):
    """(p - q)+, or p where rounding left nothing."""
    rest = np.maximum(p - q, 0.0)
    return rest if rest.sum() > 0 else p


def settled(p, q, x, accepts):
    """The tokens kept and the row of the one that follows; `accepts(i, t)` is asked in turn."""
    for i, t in enumerate(x):
        if not accepts(i, t):
            return x[:i], residual(p[i], q[i])
    return x, p[-1]


def chain(p, q, x, rng, accepts):
    """The block that comes of it."""
    kept, row = settled(p, q, x, accepts)
    return [*kept, drawn(row, rng)]


@mutant("token verification", expected="lossless")
def token_function(p, q, x, rng):
    return chain(p, q, x, rng, lambda i, t: rng.random() * q[i, t] < p[i, t])


class TokenVerifier:
    """Token verification, for objects that draft themselves."""

    def __call__(self, p, q, x, rng):
        return token_function(p, q, x, rng)


@mutant("all coins tossed first, the residual by exponential race", expected="lossless")
def token_with_a_race(p, q, x, rng):
    n = np.arange(len(x))
    accepted = rng.random(len(x)) < p[n, x] / q[n, x]
    tau = int(np.cumprod(accepted.astype(int)).sum())
    row = residual(p[tau], q[tau]) if tau < len(x) else p[tau]
    return [*x[:tau], int(np.argmax(np.where(row > 0, row / rng.exponential(size=len(row)), -1.0)))]


@mutant("Gumbel noise on logarithms", expected="lossless")
def token_with_gumbel_noise(p, q, x, rng):
    kept, row = settled(p, q, x, lambda i, t: rng.random() < p[i, t] / q[i, t])
    with np.errstate(divide="ignore"):
        return [*kept, int(np.argmax(np.log(row) + rng.gumbel(size=len(row))))]


@mutant("tokens by inversion of one uniform", expected="lossless")
def token_by_inversion(p, q, x, rng):
    kept, row = settled(p, q, x, lambda i, t: rng.random() < p[i, t] / q[i, t])
    last = int(np.flatnonzero(row)[-1])
    return [*kept, min(int(np.searchsorted(np.cumsum(row), rng.random() * row.sum(), side="right")), last)]


@mutant("the target draws at every position; agreement counts", expected="lossless")
def sampling_match(p, q, x, rng):
    y = [drawn(row, rng) for row in p]
    tau = next((i for i, t in enumerate(x) if y[i] != t), len(x))
    return y[: tau + 1]


@mutant("a stochastic draft treated as one-hot", expected="lossless")
def one_hot_on_a_stochastic_draft(p, q, x, rng):
    for i, t in enumerate(x):
        if not rng.random() < p[i, t]:
            return [*x[:i], drawn(np.where(np.arange(len(p[i])) == t, 0.0, p[i]), rng)]
    return [*x, drawn(p[-1], rng)]


def weights(p, q, x):
    """w_0 .. w_gamma of block verification."""
    w = [1.0]
    for i, t in enumerate(x):
        w.append(min(1.0, w[-1] * p[i, t] / q[i, t]))
    return w


def block_law(p, q, x, w):
    """h_i and the row of Y at every i."""
    h, rows = [], []
    for i in range(len(x)):
        row = np.maximum(w[i] * p[i] - q[i], 0.0)
        A = row.sum()
        h.append(1.0 if i == 0 or w[i] == 1 else A / (A + (1 - w[i])))
        rows.append(row if A > 0 else p[i])
    return [*h, w[-1]], [*rows, p[-1]]


@mutant("block verification", expected="lossless")
def block_function(p, q, x, rng):
    h, rows = block_law(p, q, x, weights(p, q, x))
    tau = max(i for i, u in enumerate(rng.random(len(h))) if i == 0 or u < h[i])
    return [*x[:tau], drawn(rows[tau], rng)]


@mutant("one draw over V + 1 outcomes a position, the last success wins", expected="lossless")
def block_as_categorical_draws(p, q, x, rng):
    h, rows = block_law(p, q, x, weights(p, q, x))
    draws = [
        drawn(np.append(share * row / row.sum(), 1 - share), rng) for share, row in zip(h, rows, strict=True)
    ]
    tau = max(i for i, y in enumerate(draws) if y < len(p[0]))
    return [*x[:tau], draws[tau]]


@mutant("how many are verified depends on what was already revealed", expected="lossless")
def shorter_after_token_zero(p, q, x, rng):
    end = 1 if x[0] == 0 else len(x)
    return chain(p[: end + 1], q, x[:end], rng, lambda i, t: rng.random() < p[i, t] / q[i, t])


@mutant("drafted ids of -1 are nothing drafted", expected="lossless", padding=True)
def padded_token(p, q, x, rng):
    x = x[: int((x >= 0).sum())]
    return token_function(p[: len(x) + 1], q, x, rng)


@mutant("coins keyed by seed, iteration and position", expected="lossless", iterations=2)
class keyed_but_fresh:
    def __call__(self, p, q, x, rng, position):
        return token_function(p, q, x, np.random.default_rng((7, position)))


@mutant("drafts its own tokens, from the row it verifies with", expected="lossless", iterations=2)
class honest_drafter(TokenVerifier):
    def draft(self, row, rng, position):
        return drawn(row, rng)


for _name, _drafts in (
    ("token", CHAINS),
    ("block", CHAINS),
    ("traversal", (*PLAIN, *DOUBLE)),
    ("rrs", PLAIN),
    ("specinfer", DOUBLE),
    ("nss", (*PLAIN, *FLAT)),
    ("one-hot", FLAT),
    ("hsd", CHAINS),
    ("hsd-multidraft", (Paths(2, 2),)),
):
    rule(_name, "control", VERIFIERS[_name], _drafts, expected="lossless")
