"""The joint law of a batch, by exact enumeration of all drafts: what each request emits, and all together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

from flint import fmpq, fmpq_mat

from draftproof.simulators.enumerate import Invalid, iteration
from draftproof.simulators.verdict import Verdict
from draftproof.theory.batch import Batch, Shown, drawn, presented
from draftproof.theory.draft import Draft
from draftproof.theory.emission import Emission
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, law_of
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.selection.view import Unpredictable
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier

Words = tuple[Prefix, ...]
"""One word of each request."""


@dataclass(frozen=True)
class JointWrong:
    """The first wrong prefixes, one of each request (empty: any), with their probability and the target's."""

    prefixes: Words
    got: fmpq
    want: fmpq


@dataclass(frozen=True)
class BatchVerdict(Verdict):
    """The verdict on a selection rule with a verifier on a batch.

    `total_variation` is between joint laws of all requests' first depth + 1 tokens; `marginals` has it for
    each request. `expected_accepted` is the sum over the requests.
    """

    selection: str = ""
    marginals: tuple[fmpq, ...] = ()
    joint: JointWrong | None = None

    @property
    def lossless(self) -> bool:
        return self.joint is None and not self.invalid


class Blocks(Protocol):
    """What one request emits: key -> the law of its block."""

    def __getitem__(self, shown: Any, /) -> "Block": ...


class Given:
    """The drafting scheme of a draft that was drawn before."""

    def __init__(self, draft: Draft):
        self.draft = draft

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        return self.draft


@dataclass(frozen=True)
class Block:
    """The law of the block that one request emits, and the mean number of kept tokens in it."""

    law: Law
    accepted: fmpq
    target: Rows


class Emitted:
    """What one request emits, given what the verifier is shown of its draft; worked out when asked for."""

    def __init__(self, request: Instance, verifier: Verifier):
        self.request, self.verifier = request, verifier
        self._blocks: dict[Shown, Block] = {}

    def __getitem__(self, shown: Shown) -> Block:
        if shown not in self._blocks:
            self._blocks[shown] = self._enumerated(shown)
        return self._blocks[shown]

    def _enumerated(self, shown: Shown) -> Block:
        draft, target = presented(self.request, shown)
        emission = Emission(target)
        if not draft.root.children:  # nothing to verify: Y ~ p
            emission.add(ONE, draft.root, target[()])
        else:
            scheme: Any = Given(draft)
            proposal = self.request.proposal
            for weight, _, node, row in iteration(scheme, proposal, self.verifier, target, start=ONE):
                emission.add(weight, node, row)
        accepted = sum((mass * min(tau, shown.kept) for tau, mass in emission.stopped.items()), ZERO)
        return Block(emission.law().marginal(shown.kept + 1), accepted, target)


def selected(batch: Batch) -> dict[tuple[Shown, ...], fmpq]:
    """What is presented of all drafts together -> its probability. Raises Invalid for a rule that reads a
    token before it keeps it, though it is declared predictable.
    """
    found: dict[tuple[Shown, ...], fmpq] = {}
    for each in product(*(list(drawn(request)) for request in batch.requests)):
        weight, drafts = ONE, []
        for mass, tokens in each:
            weight = weight * mass
            drafts.append(tokens)
        try:
            kept = batch.select(drafts)
        except Unpredictable as error:
            raise Invalid(f"{batch.rule.name} is declared predictable, and {error}") from None
        found[kept] = found.get(kept, ZERO) + weight
    return found


def must_verify(verifier: Verifier) -> None:
    """BadInput unless the verifier can be used in a batch."""
    if "chain" not in verifier.drafts:
        raise BadInput(f"{verifier.name} is made for {', '.join(verifier.drafts)}, not for a batch of chains")
    if verifier.carry is not None:
        raise BadInput(f"{verifier.name} keeps state between calls, and a batch is judged over one call")


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
    emitted: Sequence[Blocks],
    mixture: Mapping[tuple[Any, ...], fmpq],
) -> BatchVerdict:
    """The verdict on a batch of which `mixture` says what is presented, with what probability: one key of
    each request, for which emitted[r] has the law of its block.
    """
    declared = verifier.lossless and batch.rule.predictable
    head = verifier.name, batch.name, declared
    joint, want, words = _tensors(batch, emitted, mixture)
    accepted = sum(
        (mass * emitted[r][shown].accepted for key, mass in mixture.items() for r, shown in enumerate(key)),
        ZERO,
    )
    if joint == want:
        return BatchVerdict(*head, ZERO, accepted, None, "", batch.rule.name, (ZERO,) * len(words))
    got = dict(zip(product(*words), joint, strict=True))
    wanted = dict(zip(product(*words), want, strict=True))
    variation = sum((abs(got[w] - wanted[w]) for w in got), ZERO) / 2
    marginals = tuple(
        _difference(_marginal(got, shape), _marginal(wanted, shape))
        for shape in (
            [length if s == r else 0 for s, length in enumerate(_lengths(batch))] for r in range(len(words))
        )
    )
    wrong = _first_wrong(got, wanted, _lengths(batch))
    return BatchVerdict(*head, variation, accepted, None, "", batch.rule.name, marginals, wrong)


def batch_law(batch: Batch, verifier: Verifier) -> dict[Words, fmpq]:
    """The exact joint law of the blocks that the requests emit, in the order of token ids."""
    emitted = [Emitted(request, verifier) for request in batch.requests]
    joint: dict[Words, fmpq] = {}
    for key, mass in selected(batch).items():
        laws = [emitted[r][shown].law.items() for r, shown in enumerate(key)]
        for blocks in product(*laws):
            weight, words = mass, []
            for word, share in blocks:
                weight = weight * share
                words.append(word)
            joint[tuple(words)] = joint.get(tuple(words), ZERO) + weight
    return dict(sorted(joint.items()))


def _lengths(batch: Batch) -> list[int]:
    return [request.draft.depth + 1 for request in batch.requests]


def _tensors(
    batch: Batch, emitted: Sequence[Blocks], mixture: Mapping[tuple[Any, ...], fmpq]
) -> tuple[list[fmpq], list[fmpq], list[list[Prefix]]]:
    # The joint law of completed words, the target's, and the words along each axis; axes are contracted one
    # after another: [kept_1, rest] -> [rest, word_1].
    keys = [list(dict.fromkeys(key[r] for key in mixture)) for r in range(len(emitted))]
    at = [{kept: i for i, kept in enumerate(each)} for each in keys]
    words: list[list[Prefix]] = []
    size = 1
    for each in keys:
        size *= len(each)
    joint, want = [ZERO] * size, [ONE]
    for key, mass in mixture.items():
        index = 0
        for r, kept in enumerate(key):
            index = index * len(keys[r]) + at[r][kept]
        joint[index] += mass
    for r, length in enumerate(_lengths(batch)):
        p = law_of(batch.requests[r].target, length)
        blocks = [emitted[r][shown] for shown in keys[r]]
        laws = [block.law.complete(block.target, length) for block in blocks]
        words.append(sorted({word for law in (p, *laws) for word in law}))
        rest = len(joint) // len(keys[r])
        first = fmpq_mat(len(keys[r]), rest, joint).transpose()
        joint = (
            first * fmpq_mat(len(keys[r]), len(words[r]), [law[w] for law in laws for w in words[r]])
        ).entries()
        want = [mass * p[word] for mass in want for word in words[r]]
    return joint, want, words


def _marginal(joint: Mapping[Words, fmpq], lengths: list[int]) -> dict[Words, fmpq]:
    found: dict[Words, fmpq] = {}
    for words, mass in joint.items():
        short = tuple(word[:length] for word, length in zip(words, lengths, strict=True))
        found[short] = found.get(short, ZERO) + mass
    return found


def _difference(a: Mapping[Words, fmpq], b: Mapping[Words, fmpq]) -> fmpq:
    return sum((abs(a[words] - b[words]) for words in a), ZERO) / 2


def _shapes(lengths: list[int]) -> Iterator[tuple[int, ...]]:
    # Lengths of one prefix of each request, the shortest together first.
    yield from sorted(
        product(*(range(length + 1) for length in lengths)), key=lambda shape: (sum(shape), shape[::-1])
    )


def _first_wrong(
    got: Mapping[Words, fmpq], want: Mapping[Words, fmpq], lengths: list[int]
) -> JointWrong | None:
    for shape in _shapes(lengths):
        a, b = _marginal(got, list(shape)), _marginal(want, list(shape))
        for words in sorted(a):
            if a[words] != b[words]:
                return JointWrong(words, a[words], b[words])
    return None
