"""Closed forms against the linear programs they replace, at 256 x 256: `python -m benchmarks.closed_forms`.

Each line: the problem, seconds for HiGHS on its linear program, for POT's network simplex, for the
closed form in exact rationals, and the two ratios. All three values are checked against each other.
"""

from collections.abc import Callable
from random import Random
from time import perf_counter

from flint import fmpq

from theory.draft import Draft, Node
from theory.rows import Row, meet, total
from theory.table import Table
from theory.transport.block import chain_optimum, problem
from theory.transport.problem import Transport, highs, network_simplex
from theory.transport.single_step import (
    alpha,
    hu_greedy,
    top_and_sample,
    with_replacement,
    without_replacement,
)
from theory.transport.single_step import problem as single_step


def row(random: Random, vocab: int) -> Row:
    """A row without zeros."""
    weights = [random.randint(1, 40) for _ in range(vocab)]
    return tuple(fmpq(weight, sum(weights)) for weight in weights)


def seconds(action: Callable[[], object], least: float = 0.2) -> float:
    """The best time of one call, over about `least` seconds of calls."""
    best, spent = float("inf"), 0.0
    while spent < least:
        start = perf_counter()
        action()
        took = perf_counter() - start
        best, spent = min(best, took), spent + took
    return best


def compared(name: str, transport: Transport, closed: Callable[[], fmpq]) -> str:
    """One line of the table."""
    value = float(closed())
    linear, simplex = highs(transport), network_simplex(transport)
    assert abs(linear.value - value) < 1e-7, (linear.value, value)
    assert abs(simplex.value - value) < 1e-9, (simplex.value, value)
    times = [seconds(lambda: highs(transport)), seconds(lambda: network_simplex(transport)), seconds(closed)]
    size = " x ".join(map(str, transport.reward.shape))
    ratios = f"{times[0] / times[2]:9.0f} {times[1] / times[2]:9.0f}"
    return f"{name:<34} {size:>10} {times[0]:10.4f} {times[1]:10.5f} {times[2]:12.7f} {ratios}"


def chain_problem(random: Random, vocab: int, depth: int) -> tuple[Transport, Callable[[], fmpq]]:
    """A context-free chain: every draft against every block."""
    p, q = row(random, vocab), row(random, vocab)
    target, proposal = Table(vocab, {(): p}), Table(vocab, {(): q})
    nodes = [(fmpq(1), ())]
    for _ in range(depth):
        nodes = [(mass * q[x], (*prefix, x)) for mass, prefix in nodes for x in range(vocab)]

    def draft(leaf: tuple[int, ...]) -> Draft:
        node = Node(leaf, None)
        for length in reversed(range(depth)):
            node = Node(leaf[:length], q, (node,))
        return Draft(node)

    drafts = [(mass, draft(leaf)) for mass, leaf in nodes]
    return problem(drafts, target, depth), lambda: chain_optimum(target, proposal, depth)


def main() -> None:
    random = Random(0)
    head = f"{'problem':<34} {'size':>10} {'HiGHS s':>10} {'POT s':>10}"
    print(f"{head} {'closed s':>12} {'/HiGHS':>9} {'/POT':>9}")
    for vocab, depth in ((256, 1), (16, 2), (4, 4)):
        transport, closed = chain_problem(random, vocab, depth)
        print(compared(f"chain, V={vocab}, gamma={depth}", transport, closed), flush=True)
    p, q = row(random, 256), row(random, 256)
    print(compared("one draft, V=256", single_step(p, with_replacement(q, 1)), lambda: total(meet(p, q))))
    print(compared("Hu greedy, n=2, V=256", single_step(p, top_and_sample(q, 2)), lambda: hu_greedy(p, q, 2)))
    p, q = row(random, 23), row(random, 23)
    pairs = single_step(p, with_replacement(q, 2))
    print(compared("two i.i.d. drafts, V=23", pairs, lambda: alpha(p, q, 2, True)[0]), flush=True)
    pairs = single_step(p, without_replacement(q, 2))
    print(compared("two without replacement, V=23", pairs, lambda: alpha(p, q, 2, False)[0]), flush=True)


if __name__ == "__main__":
    main()
