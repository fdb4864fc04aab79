"""Seconds to certified optima: block transport with full information, and the stateless program.

    python benchmarks/optima.py

Times include the enumeration of the drafts; peak memory is that of the whole run so far.
"""

import resource
from time import perf_counter

from flint import fmpq

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.optimum import block_problem, full_information, stateless
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance, context_free


def sloped(vocab: int, draft: Scheme) -> Instance:
    """Context-free rows that rise and fall."""
    rising = [fmpq(2 * n, vocab * (vocab + 1)) for n in range(1, vocab + 1)]
    falling = [fmpq(2 * n - 1, vocab**2) for n in range(vocab, 0, -1)]
    return context_free(rising, falling, draft)


def main() -> None:
    full_information(sloped(2, Chain(1)))  # imports the solvers
    print(f"{'problem':<44}{'size':>16}{'seconds':>9}{'value':>10}{'error':>9}{'peak MiB':>10}")
    for name, vocab, draft in (
        ("full information, chain V=5 gamma=4", 5, Chain(4)),
        ("full information, chain V=2 gamma=9", 2, Chain(9)),
        ("full information, binary tree V=3 depth 2", 3, Tree(every(2, 2))),
    ):
        instance = sloped(vocab, draft)
        started = perf_counter()
        problem = block_problem(instance)
        found = full_information(instance)
        took = perf_counter() - started
        assert found.holds()
        size = "x".join(map(str, problem.reward.shape))
        print(f"{name:<44}{size:>16}{took:>9.3f}{float(found.value):>10.5f}{'exact':>9}{peak():>10.0f}")
    for name, instance in (
        ("stateless, binary tree V=3", next(iter(Randoms(Tree(every(2, 2)), 3, 1, seed=2)))),
        ("stateless, two paths V=3 depth 2", next(iter(Randoms(Paths(2, 2), 3, 1, seed=2)))),
        ("stateless, binary tree V=6, context-free", sloped(6, Tree(every(2, 2)))),
        ("stateless, chain V=6 gamma=4, context-free", sloped(6, Chain(4))),
    ):
        started = perf_counter()
        found = stateless(instance)
        took = perf_counter() - started
        size = f"{found.variables:,} vars"
        print(f"{name:<44}{size:>16}{took:>9.3f}{found.value:>10.5f}{found.error:>9.0e}{peak():>10.0f}")


def peak() -> float:
    """Peak memory of this process so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
