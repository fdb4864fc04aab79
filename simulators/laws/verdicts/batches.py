"""Batches, by exact enumeration of all drafts: the joint law of what is emitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from types import SimpleNamespace
from typing import Any

from flint import fmpq, fmpq_mat

from draftproof.simulators.laws.enumerate import Invalid, drafts, iteration
from draftproof.simulators.laws.verdict import Verdict, Wrong, instead
from draftproof.theory.emission import Emission
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, law_of
from draftproof.theory.numbers import ONE, ZERO, text
from draftproof.theory.rows import Prefix
from draftproof.theory.selection.batch import Batch, Shown, presented
from draftproof.theory.selection.view import Unpredictable
from draftproof.theory.shared.reportable import spelled
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier

Words = tuple[Prefix, ...]
"""For each request of a batch, the tokens that it emits."""
Masses = list[tuple[Words, fmpq]]


@dataclass(frozen=True)
class JointWrong(Wrong):
    """The first wrong prefixes, one of each request (empty: any), with their probability and the target's."""

    prefix: Words  # type: ignore[assignment]

    def __str__(self) -> str:
        first = [f"request {r} {spelled(x)!r}" for r, x in enumerate(self.prefix, 1) if x]
        return f"{' and '.join(first)} come out first {instead(self.got, self.want)}"


@dataclass(frozen=True, repr=False)
class BatchVerdict(Verdict):
    """The verdict on a selection rule with a verifier on a batch.

    `total_variation` is between joint laws of all requests' first depth + 1 tokens; `marginals` has it for
    each request. `expected_accepted` is the sum over the requests.
    """

    selection: str = ""
    marginals: tuple[fmpq, ...] = ()

    @property
    def more(self) -> dict[str, Any]:
        return {"selection": self.selection, "marginals": [text(each) for each in self.marginals]}


@dataclass(frozen=True)
class Block:
    """The law of the block that one request emits, and the mean number of kept tokens in it."""

    law: Law
    accepted: fmpq
    target: Rows


class Emitted(dict[Shown, Block]):
    """What one request emits, given what the verifier is shown of its draft; enumerated on first use."""

    def __init__(self, request: Instance, verifier: Verifier):
        self.request, self.verifier = request, verifier

    def __missing__(self, shown: Shown) -> Block:
        draft, target = presented(self.request, shown), self.request.target
        emission = Emission(target)
        if not draft.root.children:  # nothing to verify: Y ~ p
            emission.add(ONE, draft.root, target[()])
        else:
            scheme: Any = SimpleNamespace(depth=len(draft.path) - 1, draw=lambda *_: draft)
            proposal = self.request.proposal
            for weight, _, node, row in iteration(scheme, proposal, self.verifier, target, start=ONE):
                emission.add(weight, node, row)
        accepted = sum((mass * min(tau, shown.kept) for tau, mass in emission.stopped.items()), ZERO)
        self[shown] = Block(emission.law().marginal(shown.kept + 1), accepted, target)
        return self[shown]


def selected(batch: Batch) -> dict[tuple[Shown, ...], fmpq]:
    """What the verifier is shown of all drafts -> its probability. Raises Invalid for a rule that is declared
    predictable and reads a token before the rule keeps it.
    """
    found: dict[tuple[Shown, ...], fmpq] = {}
    each = [[(mass, draft.path[-1].prefix) for mass, draft in drafts(r)] for r in batch.requests]
    for together in product(*each):
        try:
            kept = batch.select([tokens for _, tokens in together])
        except Unpredictable as error:
            raise Invalid(f"{batch.rule.name} is declared predictable, and {error}") from None
        found[kept] = found.get(kept, ZERO) + prod((mass for mass, _ in together), start=ONE)
    return found


def must_verify(verifier: Verifier) -> None:
    """BadInput unless the verifier can be used in a batch."""
    if "chain" not in verifier.drafts:
        raise BadInput(f"{verifier.name} is made for {', '.join(verifier.drafts)}, not for a batch of chains")
    if verifier.carry is not None:
        raise BadInput(f"{verifier.name} keeps state between calls, and a batch is judged over one call")
    if verifier.rounding is not None:
        raise BadInput(f"{verifier.name} computes in floats, and the joint law of a batch is judged exactly")


def judge_batch(batch: Batch, verifier: Verifier) -> BatchVerdict:
    """The exact verdict on a batch: the joint law of the requests, and the law of each.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.selection import named
    >>> from draftproof.theory.verifiers import named as verifier
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))
    >>> judge_batch(Batch((toy, toy), named("tetris"), 1), verifier("token")).marginals
    (2/27, 1/27)
    >>> judge_batch(Batch((toy, toy), named("tetris-repaired"), 1), verifier("token")).lossless
    True
    """
    try:
        mixture = selected(batch)
        emitted = [Emitted(request, verifier) for request in batch.requests]
        return judge_mixture(batch, verifier, emitted, mixture)
    except Invalid as error:
        declared = verifier.lossless and batch.rule.predictable
        return BatchVerdict(verifier.name, batch.name, declared, ONE, ZERO, None, str(error), batch.rule.name)


def judge_mixture(
    batch: Batch,
    verifier: Verifier,
    emitted: Sequence[Mapping[Any, Block]],
    mixture: Mapping[tuple[Any, ...], fmpq],
    slack: fmpq = ZERO,
) -> BatchVerdict:
    """The verdict on a batch. `mixture` maps what is presented, one key for each request, to its probability;
    emitted[r][key] is then the law of the block of request r. The wrong prefixes are wrong by more than half
    the `slack`, the total variation that rounding may cause, where any are.
    """
    declared = verifier.lossless and batch.rule.predictable
    head = verifier.name, batch.name, declared
    lengths = [request.draft.depth + 1 for request in batch.requests]
    joint, want, words = _tensors(batch, emitted, mixture, lengths)
    accepted = sum(
        (mass * emitted[r][shown].accepted for key, mass in mixture.items() for r, shown in enumerate(key)),
        ZERO,
    )
    if joint == want:
        return BatchVerdict(*head, ZERO, accepted, None, "", batch.rule.name, (ZERO,) * len(words))
    both = [[*zip(product(*words), masses, strict=True)] for masses in (joint, want)]
    off = [(each, got - p) for each, got, p in zip(product(*words), joint, want, strict=True) if got != p]
    alone = [[length * (s == r) for s, length in enumerate(lengths)] for r in range(len(lengths))]
    variation, *marginals = (sum(map(abs, _cut(off, n).values()), ZERO) / 2 for n in (lengths, *alone))
    wrong = _first_wrong(both, off, lengths, slack / 2) or _first_wrong(both, off, lengths, ZERO)
    return BatchVerdict(*head, variation, accepted, wrong, "", batch.rule.name, tuple(marginals))


def batch_law(batch: Batch, verifier: Verifier) -> dict[Words, fmpq]:
    """The exact joint law of the blocks that the requests emit, in the order of token ids."""
    emitted = [Emitted(request, verifier) for request in batch.requests]
    joint: Any = Law(
        (tuple(word for word, _ in blocks), prod((share for _, share in blocks), start=mass))  # type: ignore[misc]
        for key, mass in selected(batch).items()
        for blocks in product(*(emitted[r][shown].law.items() for r, shown in enumerate(key)))
    )
    return dict(joint)


def _tensors(
    batch: Batch,
    emitted: Sequence[Mapping[Any, Block]],
    mixture: Mapping[tuple[Any, ...], fmpq],
    lengths: Sequence[int],
) -> tuple[list[fmpq], list[fmpq], list[list[Prefix]]]:
    # The joint law of completed words, the target's, and the words along each axis; axes are contracted one
    # after another: [kept_1, rest] -> [rest, word_1].
    keys = [list(dict.fromkeys(key[r] for key in mixture)) for r in range(len(emitted))]
    at = [{kept: i for i, kept in enumerate(each)} for each in keys]
    words: list[list[Prefix]] = []
    joint, want = [ZERO] * prod(map(len, keys)), [ONE]
    for key, mass in mixture.items():
        index = 0
        for r, kept in enumerate(key):
            index = index * len(keys[r]) + at[r][kept]
        joint[index] += mass
    for r, length in enumerate(lengths):
        p = law_of(batch.requests[r].target, length)
        blocks = [emitted[r][shown] for shown in keys[r]]
        laws = [block.law.complete(block.target, length) for block in blocks]
        words.append(sorted({word for law in (p, *laws) for word in law}))
        rest = len(joint) // len(keys[r])
        first = fmpq_mat(len(keys[r]), rest, joint).transpose()
        second = fmpq_mat(len(keys[r]), len(words[r]), [law[w] for law in laws for w in words[r]])
        joint = (first * second).entries()
        want = [mass * p[word] for mass in want for word in words[r]]
    return joint, want, words


def _cut(masses: Masses, lengths: Sequence[int]) -> dict[Words, fmpq]:
    # The masses of so many tokens of each request.
    found: dict[Words, fmpq] = {}
    for words, mass in masses:
        short = tuple([word[:n] for word, n in zip(words, lengths, strict=True)])
        found[short] = found.get(short, ZERO) + mass
    return found


def _first_wrong(both: list[Masses], off: Masses, lengths: list[int], slack: fmpq) -> JointWrong | None:
    # Of the prefixes of all requests the shortest together first; `off` is by how much they are too likely.
    shapes = product(*(range(length + 1) for length in lengths))
    for shape in sorted(shapes, key=lambda shape: (sum(shape), shape[::-1])):
        if far := [words for words, mass in _cut(off, shape).items() if abs(mass) > slack]:
            got, want = (_cut(masses, shape)[min(far)] for masses in both)
            return JointWrong(min(far), got, want)
    return None
