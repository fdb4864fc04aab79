"""`draftproof.check`, `law`, `gap` and `replay`: one instance, one verifier, by object or by name."""

from collections.abc import Callable, Sequence
from typing import Any

from draftproof.simulators.laws.check import must_apply
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.verdict import Verdict, joint, judge
from draftproof.simulators.study.gap import Gap, measure
from draftproof.simulators.user_code import named
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law
from draftproof.theory.rows import Prefix
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


def replay(
    verify: Callable[..., Any] | str,
    instance: Instance | dict[str, Any],
    drafted: str | None = None,
    coins: Sequence[float] = (),
    choices: Sequence[int] = (),
    *,
    rounds: int = 1,
    style: str = "verify",
    dtype: str | None = None,
    path: str | None = None,
    signature: str | None = None,
) -> Prefix:
    """The tokens that a function emits for one draft when its random calls have these answers.

    `verify` is a function, its `file.py:name`, or an adapter, as `audit` takes it; the options are those of
    `audit`: `style` is verify, loop, tree or exec. `instance` may be the document of an instance
    file. `drafted` are the drafted tokens as a report shows them, None over several `rounds` and for a
    function that drafts itself: drafts are then drawn too. Uniforms in [0, 1) are answered by `coins` in
    order, draws from rows by the tokens in `choices`. A report on a wrong law ends with such a call. Raises
    BadInput if nothing is drafted so, and Fault if the function fails.

    >>> import draftproof as dp
    >>> def last_is_drawn(p, q, x, rng):
    ...     return [*x, int(rng.random() < p[-1][1])]
    >>> toy = {"vocab": 2, "target": {"": ["1/2", "1/2"]}, "proposal": {"": [0, 1]}, "draft": "chain:1"}
    >>> dp.replay(last_is_drawn, toy, "1", [0.3])
    (1, 1)
    """
    from draftproof.simulators.audit import load  # imported here, since it is slow
    from draftproof.simulators.audit.judge.calls import instance_of
    from draftproof.simulators.audit.judge.replay import replayed
    from draftproof.simulators.audit.sandbox import CALL_SECONDS, Observer, sandboxed
    from draftproof.simulators.audit.targets.base import Target

    subject = load.Subject(verify, style, path, dtype, signature)
    target = verify if isinstance(verify, Target) else load.target(subject)
    given = instance_of(instance)
    with sandboxed(CALL_SECONDS, target.namespace, Observer(), target.name) as sandbox:
        return replayed(target, sandbox, given, drafted, coins, choices, rounds)


def _fitting(instance: Instance, verifier: Verifier | str, force: bool) -> Verifier:
    rule = named(verifier) if isinstance(verifier, str) else verifier
    if not force:
        must_apply(rule, instance)
    return rule
