"""Certificates: the law of a verifier as the tree of its branches, for a checker that is not this program.

A line of JSON has an instance, or the verdict of a verifier on the last instance with what its verification
of every draft does, or a batch with both: `proofs_check/certificates` has the checker, and what it proves.
"""

import json
from collections.abc import Callable
from functools import cache, partial
from itertools import count, product
from typing import TYPE_CHECKING, Any

from flint import fmpq

from draftproof.simulators.laws.check import Piece, judged
from draftproof.simulators.laws.enumerate import CRASHES, drafts, outcomes
from draftproof.simulators.laws.repeat import carried, said
from draftproof.simulators.laws.verdict import Verdict
from draftproof.simulators.support.make import prefixes
from draftproof.theory.draft import Draft
from draftproof.theory.drafts.shape import every
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ZERO, text
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.selection.batch import Batch, Shown, presented
from draftproof.theory.table import Rows, Table, flaw
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import Verifier

if TYPE_CHECKING:
    from draftproof.theory.transport.block import Drafted
    from draftproof.theory.transport.bounds import Optimum, Output
    from draftproof.theory.transport.certificate import Certificate

KNOWN = "chain", "tree", "paths", "top-k", "greedy", "stratified", "spechub"
"""Kinds of drafts that the checker draws itself; others are listed."""


class Choice(BaseException):
    """Stops a run at a choice without an answer, past `except Exception`; its argument: the row."""


class Answers:
    """The oracle that gives these answers, and raises `Choice` when a further one is asked for."""

    def __init__(self, answers: tuple[int, ...]) -> None:
        self.answers = iter(answers)

    def choose(self, row: Row) -> int:
        some = [x for x, mass in enumerate(row) if mass != 0]
        if len(some) == 1 and row[some[0]] == 1:
            return some[0]
        if (answer := next(self.answers, None)) is None:
            raise Choice(row)
        return answer

    def accept(self, probability: Any) -> bool:
        return not self.choose((probability, 1 - probability))


def branches(run: Callable[[Oracle], Any], answers: tuple[int, ...] = ()) -> Any:
    """The tree of a run. A choice is [[probability, what follows], ..], an end is what the run returns, or a
    word where it raises.
    """
    try:
        return run(Answers(answers))
    except Choice as choice:
        return chosen(choice.args[0], lambda x: branches(run, (*answers, x)))
    except CRASHES as error:
        return said(error)


def chosen(row: Row, follow: Callable[[int], Any]) -> Any:
    """A choice in a tree. After a row that is no law nothing follows; one without outcomes is a word."""
    wrong = flaw(row)
    return [[text(mass), wrong or follow(x)] for x, mass in enumerate(row) if mass != 0] or wrong


def certified(piece: Piece) -> tuple[list[tuple[int, Verdict]], list[str]]:
    """The verdicts of `judged`, and the lines of the certificate."""
    verdicts, lines, last = judged(piece), [], None
    for (index, verdict), (verifier, law) in zip(verdicts, piece.pairs * len(piece.indices), strict=True):
        given = piece.family[index]
        if isinstance(given, Batch):
            lines += [] if verdict.invalid else [of_batch(given, verifier, verdict)]
        elif verifier.rounding is None:
            lines += [of_instance(given, law)] * ((index, law) != last)
            lines.append(of_law(given, verifier, verdict, law=law))
            last = index, law
    return verdicts, lines


def of_instance(instance: Instance, law: Declared | None = None) -> str:
    """The line of an instance, with its end; with a declared law that is the target."""
    return _line(_instance(instance, law))


def _instance(instance: Instance, law: Declared | None = None) -> dict[str, Any]:
    target, draft = instance.target, instance.draft
    if law is not None:
        rows = law.rows(target, instance.proposal, instance.draft.depth)
        target = Table(target.vocab, {x: rows[x] for x in prefixes(target.vocab, instance.draft.depth)})
    kind = draft.kind + "+" * getattr(draft, "replacement", False)
    made: dict[str, Any] = {"kind": kind, "shape": every(1 + (kind == "spechub"), draft.depth)}
    made |= {key: value for key, value in vars(draft).items() if key in ("shape", "count")}
    if draft.kind not in KNOWN:
        listed = [[text(mass), [node.prefix for node in each.root][1:]] for mass, each in drafts(instance)]
        made |= {"kind": "listed", "drafts": listed}
    tables = {"target": _rows(target), "proposal": _rows(instance.proposal)}
    return {"vocab": instance.vocab, "name": instance.name, **tables, "draft": made}


def of_law(
    instance: Instance, verifier: Verifier, verdict: Verdict, calls: int = 0, law: Declared | None = None
) -> str:
    """The line of a verdict on the last instance: of one call, or of the text of so many, by default of two
    for a verifier that keeps state; with a `law` against that. BadInput for one that allows for rounding.
    """
    if verifier.rounding is not None:
        raise BadInput(f"{verifier.name} has no exact law to certify: it computes in floats")
    many = calls or (2 if verifier.carry is not None else 0)
    about: dict[str, Any] = {"calls": many} if many else {"accepted": text(verdict.expected_accepted)}
    if verdict.invalid:
        about.pop("accepted", None)
    found = _verified(instance, verifier, many, law is not None)
    return _line({"law": verifier.name, **about, **_found(verdict), "drafts": found})


def _found(verdict: Verdict) -> dict[str, Any]:
    if wrong := verdict.wrong:
        return {"wrong": {"prefix": wrong.prefix, "got": text(wrong.got), "want": text(wrong.want)}}
    return {"invalid": verdict.invalid} if verdict.invalid else {}


def of_batch(batch: Batch, verifier: Verifier, verdict: Verdict) -> str:
    """The line of a verdict on a batch: for every tuple of drafts, one of each request, the verification of
    what the rule selects of each. BadInput for a verdict without a law.
    """
    if verdict.invalid:
        raise BadInput(f"{batch.name} has no certificate: {verdict.invalid}")

    @cache
    def tree(r: int, shown: Shown) -> Any:
        request = batch.requests[r]
        draft = presented(request, shown)

        def ended(oracle: Oracle) -> list[Any]:
            node, row = draft.root, request.target[()]
            if shown.tokens:
                node, row = verifier.verify(oracle, draft, request.target)
            return [*node.prefix, *map(text, row if len(node.prefix) <= shown.kept else ())]

        return branches(ended)

    cases = product(*(list(drafts(request)) for request in batch.requests))
    kept = [batch.select([draft.path[-1].prefix for _, draft in case]) for case in cases]
    trees = [list(map(tree, count(), case)) for case in kept]
    requests = list(map(_instance, batch.requests))
    about = {"law": verifier.name, "selection": batch.rule.name, **_found(verdict)}
    return _line({**about, "requests": requests, "batch": trees})


def of_optimum(instance: Instance, drafted: "Drafted", found: "Certificate") -> str:
    """The line of the full-information optimum of the last instance, `found` for its law of drafted prefixes:
    a coupling of drafts and target blocks, and prices that show that none is better.
    """
    at = {prefixes: i for i, prefixes in enumerate(drafted)}
    plan, prices = [], []
    for mass, draft in drafts(instance):  # those with equal prefixes share one row of the plan
        i = at[frozenset(node.prefix for node in draft.root)]
        share = mass / found.problem.supply[i]
        row = (found.plan.get((i, j), ZERO) * share for j in range(len(found.problem.demand)))
        plan.append(list(map(text, row)))
        prices.append(str(found.u[i]))
    blocks = {"of blocks": list(map(str, found.v)), "optimum": text(found.value)}
    return _line({"plan": plan, "of drafts": prices, **blocks})


def of_stateless(instance: Instance, found: "Optimum") -> str:
    """The lines of the stateless optimum of the last instance: a lossless rule, whose E[tau] is the lower
    bound, and prices of drafts and of words of depth + 1 tokens, which show the upper one.
    """
    prices = found.prices
    never = instance.draft.depth + max(prices.values())  # of words that the target never emits

    def stop(output: "Output") -> list[Any]:
        if output.accepted == len(output.end):
            return list(output.end)
        *before, last = output.end
        return [*before, *("1" if x == last else "0" for x in range(instance.vocab))]

    def price(word: Prefix) -> fmpq:
        known = max(n for n in range(len(word) + 1) if word[:n] in prices)
        lost = known < len(word) and not instance.target[word[:known]][word[known]] > 0
        return never if lost else prices[word[:known]]

    seen = [frozenset(node.prefix for node in draft.root) for _, draft in drafts(instance)]
    rule = [
        [[text(mass / sum(found.rule[each].values(), ZERO)), stop(o)] for o, mass in found.rule[each].items()]
        for each in seen
    ]
    words = product(range(instance.vocab), repeat=instance.draft.depth + 1)
    blocks = {"of blocks": [text(price(word)) for word in words], "optimum": text(found.upper)}
    return _line({"law": "stateless optimum", "accepted": text(found.lower), "drafts": rule}) + _line(
        {"of drafts": [text(prices[each]) for each in seen], **blocks}
    )


def _verified(instance: Instance, verifier: Verifier, calls: int, rows: bool) -> list[Any]:
    # What verification does with each first draft and, with `calls`, what follows it in so many calls. With
    # `rows` also the target's are written.
    length, proposal = instance.draft.depth + calls, instance.proposal

    def verified(word: Prefix, target: Rows, calls: int) -> list[Any]:
        def ended(draft: Draft, oracle: Oracle) -> list[Any]:
            node, row = verifier.verify(oracle, draft, target)
            if calls:
                following = carried(verifier, target, proposal, draft, node)
                return drawn(node.prefix, row, following, calls - 1)
            return [*node.prefix, *map(text, () if row is target[node.prefix] and not rows else row)]

        every = outcomes(lambda oracle: instance.draft.draw(oracle, proposal, word))
        return [branches(partial(ended, draft)) for _, draft in every]

    def drawn(word: Prefix, row: Row, target: Rows, calls: int) -> list[Any]:
        return chosen(row, lambda x: after((*word, x), target, calls))

    def after(word: Prefix, target: Rows, calls: int) -> Any:
        if len(word) >= length or not (calls or target is not instance.target):
            return word[:length]
        if calls:
            return {"again": [word, verified(word, target, calls)]}
        return drawn(word, target[word], target, 0)

    return verified((), instance.target, calls)


def _rows(table: Table) -> list[Any]:
    return [[prefix, list(map(text, row))] for prefix, row in table.given()]


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"
