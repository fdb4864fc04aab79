"""`draftproof.check`, `law` and `gap`: one instance, one verifier, by object or by name."""

from draftproof.simulators.check import must_apply
from draftproof.simulators.enumerate import emission
from draftproof.simulators.own import named
from draftproof.simulators.study.gap import Gap, measure
from draftproof.simulators.verdict import Verdict, joint, judge
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law
from draftproof.theory.verifier import Verifier


def check(instance: Instance, verifier: Verifier | str, force: bool = False) -> Verdict:
    """Whether a verifier is lossless on one instance, by exact enumeration; with a witness if it is not.

    The verifier is a `Verifier` or a name, as `--verifier` takes it. One that keeps state is checked
    over two iterations, any other over one. Raises BadInput for an unknown name, and for a draft that the
    verifier is not made for unless `force` is set.

    >>> import draftproof as dp
    >>> p, q = ({(): row} for row in (["1/3", "2/3"], ["2/3", "1/3"]))
    >>> toy = dp.Instance(dp.Table.exact(2, p), dp.Table.exact(2, q), dp.Chain(2))
    >>> dp.check(toy, "block").lossless
    True
    >>> dp.check(toy, "hsd-released").wrong
    Wrong(prefix=(1, 0), got=1/3, want=2/9)
    """
    return judge(instance, _fitting(instance, verifier, force))


def law(instance: Instance, verifier: Verifier | str, iterations: int = 1, force: bool = False) -> Law:
    """The exact law of what a verifier emits: a mapping from words (tuples of token ids) to rationals.

    For one iteration: the emitted block (accepted tokens and the extra one). For N > 1 iterations: the first
    depth + N tokens. Arguments and errors are those of `check`.

    >>> import draftproof as dp
    >>> p, q = ({(): row} for row in (["1/3", "2/3"], ["2/3", "1/3"]))
    >>> toy = dp.Instance(dp.Table.exact(2, p), dp.Table.exact(2, q), dp.Chain(1))
    >>> dict(dp.law(toy, "token"))
    {(0, 0): 1/9, (0, 1): 2/9, (1,): 1/3, (1, 0): 1/9, (1, 1): 2/9}
    """
    rule = _fitting(instance, verifier, force)
    return emission(instance, rule).law() if iterations == 1 else joint(instance, rule, iterations)[1]


def gap(instance: Instance, *verifiers: Verifier | str, force: bool = False) -> Gap:
    """E[tau] of the verifiers, by default of all that are made for the instance's draft, and the certified
    optima. Arguments and errors are those of `check`.

    >>> import draftproof as dp
    >>> p, q = ({(): row} for row in (["1/3", "2/3"], ["2/3", "1/3"]))
    >>> found = dp.gap(dp.Instance(dp.Table.exact(2, p), dp.Table.exact(2, q), dp.Chain(2)))
    >>> found.expected_accepted["token"], found.expected_accepted["block"], found.full.value
    (10/9, 11/9, 4/3)
    """
    return measure(instance, [_fitting(instance, each, force) for each in verifiers] or None)


def _fitting(instance: Instance, verifier: Verifier | str, force: bool) -> Verifier:
    rule = named(verifier) if isinstance(verifier, str) else verifier
    if not force:
        must_apply(rule, instance)
    return rule
