"""python -m benchmarks.served_acceptance: how soon `endpoint --acceptance` finds a loss, how often wrongly.

Texts of 128 tokens and four drafted tokens, rates as of two models; right servers, and ones that lose 2 % of
the accepted tokens.
"""

from concurrent.futures import ProcessPoolExecutor
from functools import partial

import click
import numpy as np

from draftproof.simulators.endpoint.acceptance import Acceptance, Served

GAMMA, TOKENS, STEPS, ERROR = 4, 127, 5_000, 1e-3


def run(seed: int, loss: float, detailed: bool) -> tuple[bool, int]:
    """Whether the test rejects within STEPS, and the steps that it took."""
    rng, test = np.random.default_rng(seed), Acceptance(ERROR)
    while test.steps < STEPS and not test.wealth.rejected:
        rates = np.where(rng.random(TOKENS) < 0.45, 1.0, rng.beta(0.9, 0.5, TOKENS))
        accepted, at = [], 0
        while at < TOKENS:
            coins = (at + j >= TOKENS or rng.random() < rates[at + j] * (1 - loss) for j in range(GAMMA))
            accepted.append(next((j for j, coin in enumerate(coins) if not coin), GAMMA))
            at += accepted[-1] + 1
        counts = np.bincount(accepted, minlength=GAMMA + 1).tolist()
        test.add(Served(rates, GAMMA, len(accepted), counts, accepted if detailed else ()))
    return test.wealth.rejected, test.steps


@click.command()
@click.option("--right", default=1_000, show_default=True, help="Right servers.")
@click.option("--losing", default=200, show_default=True, help="Servers that lose 2 %.")
@click.option("--processes", default=2, show_default=True)
def main(right: int, losing: int, processes: int) -> None:
    """Prints both counts, with and without steps in order."""
    with ProcessPoolExecutor(processes) as pool:
        for detailed in (False, True):
            name = "steps in order" if detailed else "numbers of steps"
            found = list(pool.map(partial(run, loss=0.02, detailed=detailed), range(losing)))
            steps = sorted(n for rejects, n in found if rejects)
            middle = f"median {steps[len(steps) // 2]:,} steps" if steps else "none"
            click.echo(
                f"{name}: {len(steps)} of {losing} losing servers found within {STEPS:,} steps, {middle}"
            )
            found = list(pool.map(partial(run, loss=0.0, detailed=detailed), range(10**6, 10**6 + right)))
            click.echo(f"{name}: {sum(rejects for rejects, _ in found)} of {right} right servers rejected")


if __name__ == "__main__":
    main()
