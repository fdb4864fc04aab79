"""Cost of the sign-cell proofs: cells, parameters and seconds, by verifier and size.

    python benchmarks/proofs.py [--quick]

Every line is a proof that the verifier is lossless for all real p and q of that size, zeros
included. `--quick` leaves out those that take more than a few seconds.
"""

import argparse
from time import perf_counter

from draftproof.proofs_check.prove import prove
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named

PAIR, TWO_LEVELS, FORK, TWO_PATHS = every(2, 1), every(2, 2), (every(2, 1),), (every(1, 1),) * 2

CHAINS = [(2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (2, 3)]

PROOFS: list[tuple[str, int, Scheme]] = [
    *[(name, vocab, Chain(depth)) for name in ("token", "block") for vocab, depth in CHAINS],
    *[("rrs", vocab, Tree(shape)) for vocab in (2, 3) for shape in (PAIR, TWO_LEVELS)],
    *[("specinfer", vocab, Tree(shape, True)) for vocab in (2, 3) for shape in (PAIR, TWO_LEVELS)],
    ("traversal", 2, Chain(2)),
    *[("traversal", 2, Tree(shape, with_)) for shape in (PAIR, FORK, TWO_PATHS) for with_ in (False, True)],
    ("traversal", 2, Paths(2, 2)),
    *[("traversal", 3, Tree(PAIR, with_)) for with_ in (False, True)],
]
"""The statements to prove: (verifier, vocabulary, draft)."""

LONG = {("block", 3, Chain(2)), ("rrs", 3, Tree(TWO_LEVELS)), ("specinfer", 3, Tree(TWO_LEVELS, True))}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    started = perf_counter()
    print(f"{'verifier':<10} {'V':>2}  {'draft':<42} {'parameters':>10} {'cells':>7} {'seconds':>8}  verdict")
    for name, vocab, scheme in PROOFS:
        if arguments.quick and (name, vocab, scheme) in LONG:
            continue
        proof = prove(named(name), scheme, vocab, seconds=1800)
        print(
            f"{name:<10} {vocab:>2}  {described(scheme):<42} {proof.parameters:>10} {proof.cells:>7,} "
            f"{proof.seconds:>8.2f}  {proof.verdict}",
            flush=True,
        )
    print(f"{perf_counter() - started:.0f} s in all, one process")


def described(scheme: Scheme) -> str:
    """A short description of the draft."""
    names = {PAIR: "a pair", TWO_LEVELS: "two levels of pairs", FORK: "a fork", TWO_PATHS: "two paths"}
    if isinstance(scheme, Tree):
        return f"{names[scheme.shape]}, {'with' if scheme.replacement else 'without'} replacement"
    if isinstance(scheme, Chain):
        return f"a chain of {scheme.depth}"
    return "two paths, merged by prefix"


if __name__ == "__main__":
    main()
