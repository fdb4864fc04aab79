"""Closed forms against the linear programs they replace, at 256 x 256: `python -m benchmarks.closed_forms`.

Each line has the problem, the seconds for HiGHS on its linear program, for POT's network simplex (not for
several drafts, since it needs all pairs), for the closed form in exact rationals, and the two ratios. The
values are checked against each other.
"""

from collections.abc import Callable
from random import Random
from time import perf_counter

from flint import fmpq

from draftproof.theory.rows import Row, meet, total
from draftproof.theory.table import Table
from draftproof.theory.transport.block import chain_optimum, problem
from draftproof.theory.transport.certificate import Transport, network_simplex
from draftproof.theory.transport.siblings import SetLaw, set_law, top_and_sample
from draftproof.theory.transport.single_step import alpha, hu_greedy
from draftproof.theory.transport.single_step import problem as single_step
from tests.theory.transport.solvers import highs, linear_program


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


def line(name: str, size: str, linear: float, simplex: float | None, closed: float) -> str:
    """One line of the table; times in seconds, then the ratios."""
    shown = (f"{simplex:10.5f}", f"{simplex / closed:9.0f}") if simplex else (f"{'-':>10}", f"{'-':>9}")
    return f"{name:<32} {size:>17} {linear:10.4f} {shown[0]} {closed:12.7f} {linear / closed:9.0f} {shown[1]}"


def compared(name: str, transport: Transport, closed: Callable[[], fmpq]) -> str:
    """A transport problem against its closed form."""
    value = float(closed())
    linear, simplex = highs(transport), network_simplex(transport)
    assert abs(linear.value - value) < 1e-7, (linear.value, value)
    assert abs(simplex.value - value) < 1e-9, (simplex.value, value)
    times = [seconds(lambda: highs(transport)), seconds(lambda: network_simplex(transport)), seconds(closed)]
    return line(name, " x ".join(map(str, transport.reward.shape)), *times)


def multi_draft(name: str, p: Row, draws: SetLaw, closed: Callable[[], fmpq]) -> str:
    """The single-step program of several drafts against the subset formula."""
    assert abs(linear_program(p, draws) - float(closed())) < 1e-7
    size = f"{sum(map(len, draws))} variables"
    return line(name, size, seconds(lambda: linear_program(p, draws)), None, seconds(closed))


def chain_problem(random: Random, vocab: int, depth: int) -> tuple[Transport, Callable[[], fmpq]]:
    """A context-free chain: every draft against every block."""
    p, q = row(random, vocab), row(random, vocab)
    target, proposal = Table(vocab, {(): p}), Table(vocab, {(): q})
    leaves = [(fmpq(1), ())]
    for _ in range(depth):
        leaves = [(mass * q[x], (*prefix, x)) for mass, prefix in leaves for x in range(vocab)]
    law = {frozenset(leaf[:length] for length in range(depth + 1)): mass for mass, leaf in leaves}
    return problem(law, target, depth), lambda: chain_optimum(target, proposal, depth)


def main() -> None:
    random = Random(0)
    head = f"{'problem':<32} {'size':>17} {'HiGHS s':>10} {'POT s':>10}"
    print(f"{head} {'closed s':>12} {'/HiGHS':>9} {'/POT':>9}")
    for vocab, depth in ((256, 1), (16, 2), (4, 4)):
        transport, closed = chain_problem(random, vocab, depth)
        print(compared(f"chain, V={vocab}, gamma={depth}", transport, closed), flush=True)
    p, q = row(random, 256), row(random, 256)
    one = single_step(p, set_law(q, 1, True))
    print(compared("one draft, V=256", one, lambda: total(meet(p, q))), flush=True)
    hu = single_step(p, top_and_sample(q, 2))
    print(compared("Hu greedy, n=2, V=256", hu, lambda: hu_greedy(p, q, 2)), flush=True)
    for replacement, draws in ((True, set_law(q, 2, True)), (False, set_law(q, 2, False))):
        name = f"two drafts {'with' if replacement else 'without'}, V=256"
        print(multi_draft(name, p, draws, lambda: alpha(p, q, 2, replacement)[0]), flush=True)  # noqa: B023


if __name__ == "__main__":
    main()
