"""What a simpler rule can cost: the figure of docs/prices.md, and the search for an instance above a bound.

python -m studies.prices figure --out docs/images
python -m studies.prices search --count 1000000
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
import numpy as np
from flint import fmpq

from draftproof.simulators.instances.files import read
from draftproof.simulators.support.make import prefixes as prefixes_of
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from studies import drawing
from studies.price_bound import NEAR
from studies.worst import most, share

GAMMAS, KS = range(2, max(NEAR) + 1), range(2, 7)
WITNESSES = Path(__file__).parents[1] / "docs" / "prices"
STEPS = 24  # a search is one random instance and the climb from it
ROUNDING = 1e-9


def bound(rule: str, against: str, draft: Scheme) -> float:
    """What is proved of the pair, which has to be something."""
    proved = most(rule, against, draft)
    assert proved is not None
    return float(proved)


def weights(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Rows [..., V] of very different entries, some of them 0."""
    drawn = rng.random(shape) ** rng.choice([1, 4, 12], shape[:1] + (1,) * (len(shape) - 1))
    drawn = np.where(rng.random(shape) < 0.15, 0, drawn)
    drawn[..., 0] += drawn.sum(-1) == 0
    return drawn


def chain_prices(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(1 + E[tau] of block) / (1 + E[tau] of token) of instances: rows [n, prefix, V], prefixes by level."""
    p, q = (rows / rows.sum(-1, keepdims=True) for rows in (p, q))
    n = len(p)
    drafted = w = a = np.ones((n, 1))
    block, token, first = np.ones(n), np.ones(n), 0
    while first < p.shape[1]:
        here = slice(first, first + w.shape[1])
        ratio = np.divide(p[:, here], q[:, here], out=np.zeros_like(p[:, here]), where=q[:, here] > 0)
        drafted = (drafted[..., None] * q[:, here]).reshape(n, -1)
        a = (a[..., None] * np.minimum(ratio, 1)).reshape(n, -1)
        w = np.minimum(w[..., None] * ratio, 1).reshape(n, -1)
        block, token, first = block + (drafted * w).sum(1), token + (drafted * a).sum(1), here.stop
    return block / token


def node_prices(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """alpha* over the acceptance of recursive rejection, of instances with rows [n, 1, V]."""
    p, q = (rows[:, 0] / rows[:, 0].sum(-1, keepdims=True) for rows in (p, q))
    refused, passed = np.ones(len(p)), np.zeros(len(p))
    for _ in range(k):
        passed = passed + refused
        refused = np.maximum(p - passed[:, None] * q, 0).sum(1)
    ratio = np.divide(p, q, out=np.full_like(p, np.inf), where=q > 0)
    P, Q = (np.take_along_axis(rows, np.argsort(ratio), 1).cumsum(1) for rows in (p, q))
    best = 1 + np.minimum((P - np.minimum(Q, 1) ** k).min(1), 0)
    return np.where(best > 1e-6, best / np.maximum(1 - refused, 1e-9), 1)


def climbed(
    prices: Callable, name: str, prefixes: int, vocab: int, count: int, rng: np.random.Generator
) -> float:
    """The largest price among `count` instances: random ones, and for two tokens by turns the witness of
    that name, each followed by STEPS - 1 changes of one entry that are kept where they raise the price.
    """
    largest, size = 1.0, 4096
    for turn in range(-(-count // (size * STEPS))):
        p, q = (weights(rng, (size, prefixes, vocab)) for _ in "pq")
        if vocab == 2 and turn % 2:
            instance = read(WITNESSES / f"{name}.json")
            for rows, table in ((p, instance.target), (q, instance.proposal)):
                known = [[float(x) for x in table[at]] for at in prefixes_of(vocab, instance.draft.depth - 1)]
                rows[:] = np.array(known) + 1e-3 * rng.random(rows.shape) * (rng.random((size, 1, 1)) < 0.5)
        here = prices(p, q)
        for _step in range(STEPS - 1):
            at = np.arange(size), rng.integers(prefixes, size=size), rng.integers(vocab, size=size)
            moved, which = (p.copy(), q.copy()), rng.random(size) < 0.5
            for rows, chosen in zip(moved, (which, ~which), strict=True):
                new = np.where(rng.random(size) < 0.2, 0, rows[at] * rng.lognormal(0, 1, size) + 1e-3)
                rows[at] = np.where(chosen, new, rows[at])
                rows[..., 0] += rows.sum(-1) == 0
            found = prices(*moved)
            better = found >= here
            here = np.where(better, found, here)
            p, q = (np.where(better[:, None, None], new, old) for new, old in zip(moved, (p, q), strict=True))
        largest = max(largest, float(here.max()))
    return largest


@click.group()
def prices() -> None:
    """What a simpler rule can cost."""


@prices.command()
@click.option("--count", default=10**6, help="Instances of each pair.")
@click.option("--seed", default=0)
def search(count: int, seed: int) -> None:
    """Print the largest price among random and climbed instances beside the bound that none may exceed."""
    rng = np.random.default_rng(seed)
    for gamma, vocab in [(2, 3), (3, 3), *((gamma, 2) for gamma in GAMMAS)]:
        nodes, name = sum(vocab**level for level in range(gamma)), f"token-block-{gamma}"
        found = climbed(chain_prices, name, nodes, vocab, count, rng)
        _report(
            f"token against block, gamma = {gamma}, V = {vocab}", found, bound("token", "block", Chain(gamma))
        )
    for k in KS:
        for vocab in (2, 4):
            of = partial(node_prices, k=k)
            found = climbed(of, f"recursive-optimum-{k}", 1, vocab, count, rng)
            limit = bound("specinfer", "stateless", Tree(every(k, 1), True))
            _report(f"recursive rejection against alpha*, K = {k}, V = {vocab}", found, limit)


def _report(what: str, found: float, limit: float) -> None:
    click.echo(f"{what}: {found:.6f}, at most {limit:.6f}")
    if found > limit + ROUNDING:
        raise click.ClickException("above the bound")


@prices.command()
@click.option("--out", type=click.Path(path_type=Path), default=Path("docs/images"))
def figure(out: Path) -> None:
    """Write prices.svg: constants by gamma and by K."""
    made = drawing.required()(figsize=(8.6, 3.2), layout="constrained")
    chains, nodes = made.subplots(1, 2)
    bounds = [bound("token", "block", Chain(gamma)) for gamma in GAMMAS]
    formula = [float(max(_dropped(fmpq(n, 100), gamma) for n in range(1, 100))) for gamma in GAMMAS]
    reached = [_reached(f"token-block-{gamma}", "token", "block") for gamma in GAMMAS]
    drawing.curves(
        chains,
        list(GAMMAS),
        {"proved bound": bounds, "witness": reached, "one drop, then a rise to 1": formula},
        "drafted tokens gamma",
        "tokens of block over tokens of token",
    )
    least = [1 / bound("specinfer", "stateless", Tree(every(k, 1), True)) for k in KS]
    shares = [1 / _reached(f"recursive-optimum-{k}", "specinfer", "stateless") for k in KS]
    drawing.curves(
        nodes,
        list(KS),
        {"proved bound": least, "witness": shares, "K-SEQ's guarantee": [1 - (1 - 1 / k) ** k for k in KS]},
        "siblings K",
        "share of alpha* by recursive rejection",
    )
    for axes, ticks in ((chains, GAMMAS), (nodes, KS)):
        axes.legend(fontsize=8, frameon=False)
        axes.set_xticks(list(ticks))
    click.echo(f"written: {', '.join(map(str, drawing.write(made, out / 'prices', 150)))}")


def _dropped(e: fmpq, gamma: int) -> fmpq:
    return (1 + gamma * e) / (1 + e + (gamma - 1) * e * e)


def _reached(name: str, rule: str, against: str) -> float:
    return float(1 / share(read(WITNESSES / f"{name}.json"), rule, against))


if __name__ == "__main__":
    prices()
