"""The public functions that need no proofs: on one instance and one verifier, by object or name; sweeps."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from draftproof.simulators.instances.files import draft_of, parse
from draftproof.simulators.instances.files import read as read_file
from draftproof.simulators.instances.own_draft import PARTS
from draftproof.simulators.laws.check import must_apply
from draftproof.simulators.laws.repeat import must_have_a_law
from draftproof.simulators.laws.verdict import Verdict, joint, judge, judged
from draftproof.simulators.study.gap import Gap, measure
from draftproof.simulators.study.vectors import vectors as made_vectors
from draftproof.simulators.support.limits import CALL_SECONDS
from draftproof.simulators.user_code import named, of_function
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput, extra, quoted, whole
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law
from draftproof.theory.rows import Prefix
from draftproof.theory.verifier import Verifier

if TYPE_CHECKING:
    from draftproof.simulators.study.results import Results

Given = Instance | Path | str
"""An instance, or the path of its file."""

Judged = Verifier | Callable[..., Any] | str
"""A verifier, a function as `file.py:name` may name it, or a name as `--verifier` takes it."""

ITERATIONS = 8


def read(path: Path | str) -> Instance:
    """The instance in a file, or on standard input (`-`); BadInput names the file, the key and the fault."""
    return read_file(path_of(path))


def check(instance: Given, verifier: Judged, force: bool = False) -> Verdict:
    """Whether a verifier is lossless on one instance, by exact enumeration; with a witness if it is not.

    The verifier is a `Verifier`, a function, or a name, as `--verifier` takes it; the instance may be its
    file. A verifier that keeps state is checked over two iterations, any other over one. Raises BadInput for
    an unknown name, for a verifier of yours that draws outside the oracle or has no law, and for a draft that
    the verifier is not made for unless `force` is set.

    >>> import draftproof as dp
    >>> p, q = ({(): row} for row in (["1/3", "2/3"], ["2/3", "1/3"]))
    >>> toy = dp.Instance(dp.Table.exact(2, p), dp.Table.exact(2, q), "chain:2")
    >>> dp.check(toy, "block").lossless
    True
    >>> dp.check(toy, "hsd-released").wrong
    Wrong(prefix=(1, 0), got=1/3, want=2/9)
    """
    given, rule = _fitting(instance, verifier, force)
    verdict = judge(given, rule)
    must_have_a_law(rule, verdict.invalid)
    return verdict


def law(instance: Given, verifier: Judged, iterations: int = 1, force: bool = False) -> Law:
    """The exact law of what a verifier emits: a mapping from words (tuples of token ids) to rationals.

    For one iteration: the emitted block (accepted tokens and the extra one). For 2 to 8 iterations: the first
    depth + N tokens. Arguments and errors are those of `check`; BadInput for one of the project's that has no
    law, too.

    >>> import draftproof as dp
    >>> p, q = ({(): row} for row in (["1/3", "2/3"], ["2/3", "1/3"]))
    >>> toy = dp.Instance(dp.Table.exact(2, p), dp.Table.exact(2, q), dp.Chain(1))
    >>> dict(dp.law(toy, "token"))
    {(0, 0): 1/9, (0, 1): 2/9, (1,): 1/3, (1, 0): 1/9, (1, 1): 2/9}
    """
    whole("iterations", iterations, 1, ITERATIONS)
    given, rule = _fitting(instance, verifier, force)
    if iterations == 1:
        verdict, emitted = judged(given, rule)
        found = emitted and emitted.law()
    else:
        verdict, found = joint(given, rule, iterations)
    if verdict.invalid or found is None:
        raise BadInput(f"{rule.name} has no law: {verdict.invalid}")
    return found


def gap(instance: Given, *verifiers: Judged, force: bool = False) -> Gap:
    """E[tau] of the verifiers, by default of all that are made for the instance's draft, and the certified
    optima. Arguments and errors are those of `check`.

    >>> import draftproof as dp
    >>> p, q = ({(): row} for row in (["1/3", "2/3"], ["2/3", "1/3"]))
    >>> found = dp.gap(dp.Instance(dp.Table.exact(2, p), dp.Table.exact(2, q), dp.Chain(2)))
    >>> found.expected_accepted["token"], found.expected_accepted["block"], found.full.value
    (10/9, 11/9, 4/3)
    """
    given = _instance(instance)
    return measure(given, [_fitting(given, each, force)[1] for each in verifiers] or None)


def replay(
    verify: Callable[..., Any] | str,
    instance: Instance | dict[str, Any] | Path | str,
    drafted: str | None = None,
    coins: Sequence[float] = (),
    choices: Sequence[int] = (),
    *,
    rounds: int = 1,
    style: str = "verify",
    dtype: str | None = None,
) -> Prefix:
    """The tokens that a function emits for one draft when its random calls have these answers.

    `verify` is a function, or its `file.py:name` as `audit` takes it; the options are those of
    `audit`: `style` is verify, loop, tree or exec. `instance` may be an instance file or its document.
    `drafted` are the drafted tokens as a report shows them, None over several `rounds` and for a
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
    from draftproof.simulators.audit.judge.replay import replayed
    from draftproof.simulators.audit.sandbox import sandboxed

    whole("rounds", rounds, 1, ITERATIONS)
    for values, kinds, end, wanted in (
        (coins, int | float, 1, "coins must be a list of numbers in [0, 1)"),
        (choices, int, inf, "choices must be a list of token ids"),
    ):
        listed = isinstance(values, list | tuple)
        if not listed or not all(isinstance(each, kinds) and 0 <= each < end for each in values):
            raise BadInput(f"{wanted}, not {quoted(values)}")
    target = load.target(load.Subject(verify, style, dtype))
    given = parse(json.dumps(instance)) if isinstance(instance, dict) else _instance(instance)
    with sandboxed(CALL_SECONDS, target.namespace) as sandbox:
        return replayed(target, sandbox, given, drafted, coins, choices, rounds)


def vectors(
    verifier: Judged,
    vocab: int = 3,
    depth: int = 2,
    draft: Scheme | str | None = None,
    calls: int = 6,
    seed: int = 0,
) -> dict[str, Any]:
    """Test vectors for code in other languages, ready for `json.dumps`; errors are those of `check`.

    >>> import draftproof as dp
    >>> dp.vectors("token", vocab=2, depth=1)["instances"][0]["expected_accepted"]
    {'exact': '2/3', 'float64': 0.6666666666666666}
    """
    for name, value, least in (("vocab", vocab, 2), ("depth", depth, 1), ("calls", calls, 0)):
        whole(name, value, least, 10**6)
    whole("seed", seed, -(2**63), 2**63)
    scheme = None if draft is None else drafted(draft)
    return made_vectors(rule_of(verifier), vocab, depth, scheme, calls, seed)


def sweep(
    study: Path | str | Mapping[str, Any],
    results: Path | str | None = None,
    workers: int = 1,
    progress: bool = False,
) -> "Results":
    """The results of a sweep, in a folder from which the same call goes on where it was interrupted.

    `study` is its TOML file, or what that would hold as a dictionary; `results` the folder, by default
    results/ and the file's name. Raises BadInput for what the file, the folder or the extra lacks.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     found = sweep({"metrics": ["check"], "verifiers": ["token"], "rows": "scenarios"}, folder)
    ...     found.to_dict()["summary"][0]["verdicts"]
    {'lossless': 18}
    """
    with extra("sweep"):
        from draftproof.simulators.study import configuration, store
        from draftproof.simulators.study.plan import plan
        from draftproof.simulators.study.results import Results
    whole("workers", workers, 1, 10**6)
    if isinstance(study, Mapping):
        if results is None:
            raise BadInput("results: name a folder for a study that is no file")
        entries, folder = configuration.parsed(study), path_of(results)
    else:
        entries = configuration.read(path_of(study))
        folder = path_of(Path("results") / path_of(study).stem if results is None else results)
    if store.sweep(entries, plan(entries), folder, workers, progress).interrupted:
        raise KeyboardInterrupt
    return Results(folder)


def path_of(path: object) -> Path:
    """The path; BadInput if it is none."""
    with suppress(UnicodeEncodeError):
        if isinstance(path, Path | str) and b"\0" not in os.fsencode(path):
            return Path(path)
    raise BadInput(f"a path is needed, not {quoted(path)}")


def rule_of(verifier: Judged) -> Verifier:
    """The verifier that an argument of these functions stands for."""
    if isinstance(verifier, Verifier):
        return verifier
    return named(verifier) if isinstance(verifier, str) else of_function(verifier)


def drafted(draft: Scheme | str) -> Scheme:
    """The drafting scheme that an argument of these functions stands for."""
    if isinstance(draft, str):
        return draft_of(draft)
    if not all(hasattr(draft, part) for part in PARTS):
        raise BadInput(f"draft must be a scheme or a word such as chain:2, not {quoted(draft)}")
    return draft


def _instance(given: Given) -> Instance:
    return given if isinstance(given, Instance) else read(given)


def _fitting(instance: Given, verifier: Judged, force: bool) -> tuple[Instance, Verifier]:
    given, rule = _instance(instance), rule_of(verifier)
    if not force:
        must_apply(rule, given)
    return given, rule
