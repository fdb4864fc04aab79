"""`draftproof.prove`, `claims` and `report`."""

from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import Any

from draftproof.proofs_check import prove as prover
from draftproof.proofs_check.claims.review import Review, review
from draftproof.proofs_check.every_size import Result, prove_every_size
from draftproof.proofs_check.prove import Proof
from draftproof.simulators.api import drafted, path_of, rule_of
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.instances.suite import of_depth
from draftproof.simulators.laws.repeat import must_have_a_law, of_a_user
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.laws.verdicts.against import must_measure
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.names import scheme as spelled
from draftproof.theory.errors import BadInput, extra, quoted, whole
from draftproof.theory.targets import ITSELF, declared
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import Verifier

VOCABS = 2, 16


def prove(
    verifier: Verifier | Callable[..., Any] | str,
    scheme: Scheme | str | None = None,
    vocab: int = 2,
    seconds: float = 60.0,
    law: Declared | str = ITSELF,
    every_size: bool = False,
) -> Proof | Result:
    """Whether one iteration of a verifier is lossless for all real p and q on one draft and vocabulary, or
    with `every_size`, alone, on every one.

    The verifier is given as to `check`, the draft as an object or a word; without one it is of depth 2 and of
    the first kind that the verifier is made for. Raises BadInput for a verifier that the draft does not fit,
    that draws outside the oracle or that has no law, or that a declared `law` cannot be measured of.

    >>> import draftproof as dp
    >>> dp.prove("token", "chain:1").verdict
    'proved'
    """
    rule, law = rule_of(verifier), declared(law) if isinstance(law, str) else law
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or isnan(seconds):
        raise BadInput(f"seconds must be a number of seconds, not {quoted(seconds)}")
    if every_size:
        if (scheme, vocab, law) != (None, 2, ITSELF):
            raise BadInput("every_size goes without scheme, vocab and law")
        must_run(rule)
        return prove_every_size(rule, seconds)
    draft = usual(rule) if scheme is None else drafted(scheme)
    whole("vocab", vocab, *VOCABS)
    if draft.label not in rule.drafts:
        raise BadInput(f"{rule.name} is made for {', '.join(rule.drafts)}, not for {draft.label}")
    must_run(rule, draft, vocab)
    if law != ITSELF:
        must_measure(rule)
    found = prover.prove(rule, draft, vocab, seconds, law)
    if found.counterexample is not None:
        must_have_a_law(rule, found.why)
    return found


def claims(*names: str, paper: str | None = None, check: bool = True, progress: bool = False) -> Review:
    """The registered claims of these names, or about a paper: statements, verdicts, sources.

    With `check` those that are named are decided again, else those that take a few seconds at most. Raises
    BadInput for what no claim is about.

    >>> import draftproof as dp
    >>> dp.claims("token-lossless").ok
    True
    """
    for name in (*names, *([] if paper is None else [paper])):
        if not isinstance(name, str):
            raise BadInput(f"a claim or a paper is named by text, not by {quoted(name)}")
    return review(*names, paper=paper, listed=not check, shown=progress)


def report(results: Path | str, output: Path | str = "report.html", title: str | None = None) -> Path:
    """Writes the page of a sweep's results, and returns its path. Raises BadInput if there are no results, or
    if the page cannot be written.
    """
    with extra("report"):
        from draftproof.simulators.study.report.sections import written
    if not isinstance(title, str | None):
        raise BadInput(f"title must be text, not {quoted(title)}")
    place = path_of(output)
    written(path_of(results), place, title)
    return place


def must_run(rule: Verifier, draft: Scheme | None = None, vocab: int = 2) -> None:
    """BadInput unless a user's verifier runs on rationals and its runs repeat, on the draft or on any one."""
    if of_a_user(rule):
        draft = draft or next(each for each in of_depth(2) if each.label in rule.drafts)
        must_have_a_law(rule, judge(scenario("toy", draft, vocab), rule, 1).invalid)


def usual(rule: Verifier, depth: int = 2) -> Scheme:
    """The draft on which a verifier is proved if none is named."""
    words = {
        "tree without replacement": "tree:2x{}",
        "tree with replacement": "tree+:2x{}",
        "chain": "chain:{}",
        "greedy": "greedy:2x{}",
        "spechub": "spechub:{}",
        "top-k": "top-k:2x{}",
    }
    for label, word in words.items():
        if label in rule.drafts:
            return spelled(word.format(depth))
    raise BadInput(f"{rule.name}: give its draft with --draft")
