"""Rules that follow a law of their own: a row made of the target's and the drafter's, for every context.

In a speculative cascade (narasimhan2025faster) the drafter's row stands unless the target is surer. The
released weight of `diverse` is a network of both models' hidden states; whatever it is, it depends on the
context alone, which is all that losslessness for pi needs.

>>> from draftproof.simulators.laws.verdicts.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> for law in DECLARED:
...     found = judge_against(scenario("toy", Chain(2)), law.rule, law)
...     print(law, found.lossless, found.token.total_variation)
interpolation:1/4 True 1/12
diverse True 2/9
cascade-opt:1/4 True 1/3
cascade-token:1/4 True 1/9
"""

from flint import fmpq

from draftproof.theory.rows import Row, add, meet, point, scale, total
from draftproof.theory.targets.declared import TOTAL_VARIATION, Budget, Declared


def interpolation(p: Row, q: Row, a: fmpq) -> Row:
    """(1 - a) p + a q."""
    return add(scale(1 - a, p), scale(a, q))


def within(p: Row, q: Row, a: fmpq) -> fmpq:
    """a TV(p, q)."""
    return a * apart(p, q)


def diverse(p: Row, q: Row, parameter: fmpq) -> Row:
    """w p + (1 - w) q with w = TV(p, q): more of the target where the models disagree."""
    return interpolation(q, p, apart(p, q))


def cascade_opt(p: Row, q: Row, a: fmpq) -> Row:
    """p where max q < max p - a TV(p, q), else q."""
    return p if max(q) < max(p) - within(p, q, a) else q


def cascade_token(p: Row, q: Row, a: fmpq) -> Row:
    """q on the tokens with p >= (1 - a) max p, and the drafter's mass on all others spread by p."""
    least = (1 - a) * max(p)
    found, left = scale(0 * a, q), 0 * a
    for x in range(len(p)):
        if p[x] < least:
            left = left + q[x]
        else:
            found = add(found, scale(q[x], point(x, p)))
    return add(found, scale(left, p))


def apart(p: Row, q: Row) -> fmpq:
    """TV(p, q)."""
    return 1 - total(meet(p, q))  # type: ignore[return-value]


DECLARED = (
    Declared(
        "interpolation",
        "wang2026diversed, static ensemble",
        interpolation,
        parameter=fmpq(1, 4),
        most=fmpq(1),
        budget=Budget(TOTAL_VARIATION, within, kept=True),
    ),
    Declared("diverse", "wang2026diversed, dynamic ensemble; the weight is a stand-in", diverse),
    Declared(
        "cascade-opt",
        "narasimhan2025faster, deferral rule OPT",
        cascade_opt,
        parameter=fmpq(1, 4),
        ordered=True,
    ),
    Declared(
        "cascade-token",
        "narasimhan2025faster, token-specific rule V3",
        cascade_token,
        parameter=fmpq(1, 4),
        most=fmpq(1),
        ordered=True,
    ),
)
