"""python -m benchmarks.served_steps_bound: what any test of the numbers of steps could find.

The servers of benchmarks.served_acceptance. A test that knows the loss of 2 % beforehand, reads 5,000 steps
and bets all on it (Neyman and Pearson) has the largest power of all tests with that error which see the
number of steps of each text alone, also of those that stop early. Its power is read from normal laws of the
evidence.
"""

import click
import numpy as np
from scipy.stats import norm

from benchmarks.served_acceptance import ERROR, GAMMA, STEPS, TOKENS


def law(rates: np.ndarray) -> np.ndarray:
    """The law of the number of steps of a text: shape (TOKENS + 1,)."""
    at = np.zeros((TOKENS + GAMMA + 2, TOKENS + 1))
    at[0, 0] = 1
    for n in range(TOKENS):
        going = np.append(0, at[n, :-1])  # one step more
        for j in range(GAMMA):
            rate = rates[n + j] if n + j < TOKENS else 1.0
            at[min(n + j + 1, TOKENS)] += going * (1 - rate)
            going = going * rate
        at[min(n + GAMMA + 1, TOKENS)] += going
    return at[TOKENS]


def log_odds(seed: int, loss: float, known: float = 0.02) -> float:
    """The log of the likelihood ratio of the loss that is looked for, after STEPS steps of a server."""
    rng, steps, found = np.random.default_rng(seed), 0, 0.0
    while steps < STEPS:
        rates = np.where(rng.random(TOKENS) < 0.45, 1.0, rng.beta(0.9, 0.5, TOKENS))
        right, losing = law(rates), law(rates * (1 - known))
        number = int(rng.choice(TOKENS + 1, p=losing if loss else right))
        steps += number
        found += float(np.log(losing[number] / right[number]))
    return found


@click.command()
@click.option("--servers", default=60, show_default=True, help="Right ones, and as many that lose 2 %.")
def main(servers: int) -> None:
    """Prints the mean evidence, and the largest power."""
    right, losing = (
        np.array([log_odds(seed + int(1e6 * loss), loss) for seed in range(servers)]) for loss in (0.0, 0.02)
    )
    bound = right.mean() + norm.isf(ERROR) * right.std(ddof=1)
    power = norm.sf((bound - losing.mean()) / losing.std(ddof=1))
    click.echo(
        f"log of the odds after {STEPS:,} steps: right {right.mean():.1f} +- {right.std(ddof=1):.1f}, "
        f"losing 2 % {losing.mean():.1f} +- {losing.std(ddof=1):.1f} (log 1 / error: {-np.log(ERROR):.1f})\n"
        f"largest power with an error of {ERROR}: {power:.4f}"
    )


if __name__ == "__main__":
    main()
