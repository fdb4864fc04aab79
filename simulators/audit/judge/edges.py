"""Runs the target with extreme coins (the smallest and largest that generators return) and rows of NaN.

An extreme coin has probability 2^-24 or less, so it changes no law by more than rounding. Faults there are
reported as separate findings: a token of probability zero, an id outside the vocabulary, an error.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from draftproof.simulators.audit.battery import equal_rows
from draftproof.simulators.audit.coins.sources import Fixed, Source
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.judge.exact import GONE
from draftproof.simulators.audit.judge.report import Report, named
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets.base import Arrays, DraftVerifier, Program, Run, Target, paths_text
from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.draft import Draft
from draftproof.theory.instance import Instance

EDGES = (0.0, 2.0**-149, 1 - 2.0**-24, 1 - 2.0**-53)  # smallest and largest coins of float32 and float64
COINS_ALONE = 12  # at most this many coins of a call are set to an edge one by one


def findings_at_edges(
    target: Target, sandbox: Sandbox, chosen: Sequence[Instance], report: Report, padding: bool
) -> None:
    """Adds the faults at the edges to the report, on the smaller of the instances; a slow target is tried on
    two drafts.
    """
    least = min(instance.draft.outcomes(instance.vocab) for instance in chosen)
    most = least if target.whole else max(4, least)
    small = [instance for instance in chosen if instance.draft.outcomes(instance.vocab) <= most]
    tried = [(instance, program) for instance in small for program in target.calls(sandbox, instance)]
    tried = tried[:2] if target.slow else tried
    for n, (instance, program) in enumerate(tried):
        sandbox.observer.progress(n, len(tried), f"coins at the edges, {named(instance)}")
        _at_edges(target.slow, instance, program, report)
    if not isinstance(target, DraftVerifier):
        return
    for _, (p, q, x) in _arrays(target, chosen[0]):
        broken = [("leaves the vocabulary", "; target rows of NaN", (np.full_like(p, np.nan), q, x))]
        if padding:  # a drafted id of -1 means that nothing was drafted: it must not be emitted
            broken.append(("accepts padding", "", (p, q, np.array([*x[:-1], -1]))))
        for (kind, what, given), coin in product(broken, (0.0, 0.5, 1 - 2.0**-24)):
            fault = _fault(target.run_on(sandbox, given), Fixed([coin]), None)
            if fault is not None and fault.kind == "leaves the vocabulary":  # an exception is acceptable
                report.note(kind, f"{fault.what}{what}")
    if not target.slow:
        _with_equal_rows(target, sandbox, chosen[-1].vocab, chosen[-1].draft.depth, report)


def _at_edges(slow: bool, instance: Instance, program: Program, report: Report) -> None:
    # All coins, and each of them, are at an edge.
    probe = Fixed([0.5])
    _fault(program.run, probe, None)
    for edge in EDGES:
        alone = product(range(min(probe.drawn, COINS_ALONE)), (0.0, 0.5))
        tried = [([*[other] * at, edge, other], f"coin {at + 1} is {edge!r}") for at, other in alone]
        tried.insert(0, ([edge], f"every coin {edge!r}"))
        for (coins, which), last in product(tried, (False,) if slow else (False, True)):
            fault = _fault(program.run, Fixed(coins, last), instance)
            if fault is not None:
                drafted = f"drafted {program.drafted}" if program.drafts else ""
                where = ", ".join(filter(None, (which, f"on {named(instance)}", drafted)))
                report.note(fault.kind, f"{fault.what}; {where}", f"edge {fault.kind}", edge=True)


def _with_equal_rows(
    verifier: DraftVerifier, sandbox: Sandbox, vocab: int, depth: int, report: Report
) -> None:
    # Rows of p and q that differ only by rounding, and the largest coins. A ratio p/q just below 1 rejects
    # its type's largest coin, and then (p - q)+ may be zero everywhere. Rows given as probabilities are once
    # equal, and once q is one rounding above p. Rows given as logits differ after the function's own softmax.
    for instance in equal_rows(vocab, depth):
        for draft, (p, q, x) in _arrays(verifier, instance):
            for rows in [q] if verifier.logits else [q, np.nextafter(q, q.dtype.type(2))]:
                for at, edge in product(range(depth), EDGES[2:]):
                    coins = Fixed([*[0.0] * at, edge, 0.5])
                    fault = _fault(verifier.run_on(sandbox, (p, rows, x)), coins, instance)
                    if fault is not None:
                        where = f"{fault.what}; coin {at + 1} is {edge!r}, p and q equal but for rounding, "
                        where += f"on {named(instance)}, drafted {paths_text(draft)}"
                        report.note(fault.kind, where, f"equal rows {fault.kind}", edge=True)
                        return


def _arrays(verifier: DraftVerifier, instance: Instance) -> Iterator[tuple[Draft, Arrays]]:
    # (draft, arguments) of every call whose arguments are arrays.
    for _, draft in drafts(instance) if verifier.arrays else ():
        yield draft, verifier.prepare(instance.target, draft)


def _fault(run: Run, source: Fixed, instance: Instance | None) -> Fault | None:
    # The fault of one run, or None; without an instance every token counts as possible. It must recur.
    fault = _once(run, source, instance)
    if fault is not None:
        again = _once(run, Fixed(source.coins, source.last), instance)
        if again is None or again.kind != fault.kind:
            raise NotEnumerable(GONE)
    return fault


def _once(run: Run, source: Source, instance: Instance | None) -> Fault | None:
    try:
        word, _ = run(source)
    except Fault as fault:
        return fault
    for end, token in enumerate(word):
        if instance and not instance.target[word[:end]][token]:
            return Fault("emits a token of probability zero", f"{token} after {word[:end]}")
    return None
