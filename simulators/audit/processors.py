"""The instances of `--processors`: rows that a grammar, a filter or a penalty has changed, missing drafts.

A draft can be missing for two reasons. Absent: nothing was drawn, and the token comes from p. Forbidden: a
token was drawn from q and the grammar does not allow it; its rejection is known, and the token comes from
norm((p - q)+). An engine that writes -1 for both needs q's row to tell them apart: an absent draft has a row
of zeros here, with which the same residual is p.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from draftproof.simulators.instances.files import parse
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.draft import Draft, chained
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ZERO
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows
from draftproof.theory.targets import processors

NAMES = ("toy", "reversed", "seesaw")
"""The scenarios whose rows are processed; none of them has a zero."""


@dataclass(frozen=True)
class Missing:
    """A chain of `depth` tokens of which some are replaced by -1: all after the first `drafted`, or, if
    `target` is given, the first that has probability zero under it and all after that one.
    """

    depth: int
    drafted: int
    target: Rows | None = field(default=None, compare=False, repr=False)
    kind: ClassVar[str] = "missing"
    label = kind

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        leaf, laws, ended = context, [], False
        for j in range(self.depth):
            row = proposal[leaf] if not ended else laws[-1]
            if j >= self.drafted:
                row = tuple([ZERO] * proposal.vocab)
            token = -1 if ended or j >= self.drafted else oracle.choose(row)
            ended = token < 0 or (self.target is not None and not self.target[leaf][token] > 0)
            laws.append(row)
            leaf = (*leaf, -1 if ended else token)
        return Draft(chained(leaf, laws))

    def outcomes(self, support: int) -> int:
        return support**self.drafted

    def smaller(self) -> "Iterator[Missing]":
        return iter(())


def instance_of(document: Any) -> Instance:
    """The instance of a report, given as it is or as the document that was printed, in which drafts of the
    kind `missing` are those of `--processors`. BadInput for anything else.
    """
    if isinstance(document, Instance):
        return document
    if not isinstance(document, dict):
        raise BadInput(f"instance: must be an Instance or its document, not {quoted(document)}")
    draft = document.get("draft")
    absent = draft if isinstance(draft, dict) and draft.get("kind") == Missing.kind else None
    if absent is None:
        return parse(json.dumps(document))
    found = parse(json.dumps({**document, "draft": {"kind": "chain", "depth": max(absent["depth"], 1)}}))
    masked = found.target if 0 < absent["depth"] == absent["drafted"] else None
    return replace(found, draft=Missing(absent["depth"], absent["drafted"], masked))


def processed_already(instance: Instance) -> bool:
    """Whether shrinking the instance would change what was processed or is missing."""
    return isinstance(instance.draft, Missing) or any(
        isinstance(table, processors.Processed) for table in (instance.target, instance.proposal)
    )


def steps(vocab: int) -> dict[str, list[processors.Step]]:
    """What is done to the rows -> the processors that do it. Every grammar allows two tokens, which depend on
    the token before; on V = 2 one.
    """
    edges = {
        str(state): {str(x % vocab): str(x % vocab) for x in ((state, state + 1) if vocab > 2 else (state,))}
        for state in range(vocab)
    }
    grammar, penalties = processors.Mask("0", edges), (processors.Presence("1/3"), processors.Repetition(2))
    return {
        "target masked": [(grammar, "target")],
        "both masked": [(grammar, "both")],
        "top-k": [(processors.TopK(max(vocab - 1, 1)), "both")],
        "top-k of the target": [(processors.TopK(max(vocab - 1, 1)), "target")],
        "top-p of the proposal": [(processors.TopP("1/2"), "proposal")],
        "min-p": [(processors.MinP("2/3"), "both")],
        "penalties": [(each, "both") for each in penalties],
        "penalties of the target": [(each, "target") for each in penalties],
    }


def processed_battery(vocab: int, depth: int, slow: bool = False) -> Iterator[Instance]:
    """Instances with processed rows, then drafts with missing tokens, smallest first.

    >>> [each.name for each in processed_battery(2, 1)][0]
    'target masked, toy, chain depth 1 V=2'
    """
    sizes = [(vocab, depth)] if slow else dict.fromkeys([(2, 1), (min(3, vocab), depth), (vocab, depth)])
    names = NAMES[:1] if slow else NAMES
    for v, d in sizes:
        for name in names:
            plain = scenario(name, Chain(d), v)
            for what, each in steps(v).items():
                yield replace(processors.processed(plain, each), name=f"{what}, {plain.name}")
    for v, d in sizes:
        for name in names:
            plain = scenario(name, Chain(d), v)
            for drafted in range(d):
                yield replace(
                    plain,
                    draft=Missing(d, drafted),
                    name=f"{d - drafted} of {d} drafts absent (-1), {name} V={v}",
                )
            yield replace(plain, draft=Missing(0, 0), name=f"nothing drafted, {name} V={v}")
            masked = processors.processed(plain, steps(v)["target masked"])
            draft = Missing(d, d, masked.target)
            yield replace(masked, draft=draft, name=f"forbidden drafts as -1, {name} depth {d} V={v}")
