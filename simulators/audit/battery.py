"""The instances that a foreign verifier is audited on, smallest first."""

from collections.abc import Iterator
from random import Random

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import SCENARIOS, scenario
from draftproof.simulators.support.make import tabulate, weighted
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix, Row

VOCAB, DEPTH = 3, 2  # default bounds of the instances
WORDS = 5_000  # most words of depth + 1 tokens of an instance

LARGER = ("toy", "reversed")
"""The scenarios that are tried on one token, and one drafted token, more than the default bounds."""

CORE = ("toy", "reversed", "holes in both", "seesaw", "equal")
"""The scenarios that reveal most faults; large sizes and slow targets get only these."""


def battery(vocab: int, depth: int, rounds: int = 1, slow: bool = False) -> Iterator[Instance]:
    """Instances on chains, smallest first, up to the given vocabulary and depth; BadInput beyond WORDS.

    The default bounds also get a few instances with one token, and with one drafted token, more. Several
    `rounds` and `slow` targets get fewer and smaller instances. Slow targets over several rounds get
    only the toy and one-hot proposals, so that only the verifier makes random choices.

    >>> [max(1, each.draft.depth) for each in battery(2, 1)][:3]
    [1, 1, 1]
    """
    if slow and rounds > 1:
        yield scenario("toy", Chain(1), 2)
        yield from (scenario("one-hot proposal", Chain(d), 2) for d in range(1, depth + 1))
        return
    if slow:
        yield from (scenario(name, Chain(depth), vocab) for name in CORE)
        return
    must_be_small(vocab, depth)
    sizes = dict.fromkeys([(2, 1), (3, 1), (2, 2), (3, 2), (vocab, depth)])
    for v, d in (size for size in sizes if size[0] <= vocab and size[1] <= depth):
        if rounds > 1:
            yield from (scenario(name, Chain(d), v) for name in (*CORE, "uniform target"))
            yield from Randoms(Chain(d), v, 4 if v**d <= 4 else 1)
            yield from [two_left(v, d)] if v > 2 else []
        else:
            yield from _one_round(v, d, largest=(v, d) == (vocab, depth))
    if rounds == 1 and (vocab, depth) == (VOCAB, DEPTH):  # a fault may need a fourth token, or a third draft
        for v, d in ((VOCAB + 1, 1), (2, DEPTH + 1)):
            yield from (scenario(name, Chain(d), v) for name in LARGER)
            yield steep(v, d)


def must_be_small(vocab: int, depth: int) -> None:
    """BadInput for instances of more than WORDS words of depth + 1 tokens."""
    if vocab < 2 or depth < 1 or depth > WORDS.bit_length() or vocab ** (depth + 1) > WORDS:
        raise BadInput(
            f"vocabulary {vocab:,} and depth {depth}: too large (at least 2 and 1, at most {WORDS:,} words "
            "of depth + 1 tokens)"
        )


def _one_round(vocab: int, depth: int, largest: bool) -> Iterator[Instance]:
    # The largest size also gets scenarios behind every number of drafted tokens, and behind single tokens.
    small = vocab**depth <= 9
    names = SCENARIOS if small else CORE
    yield from (scenario(name, Chain(depth), vocab) for name in names)
    yield steep(vocab, depth)
    if largest:
        yield from (placed(name, vocab, depth, at) for at in range(depth + 1) for name in names)
        if small and depth > 1:
            single = ((name, token) for name in SCENARIOS for token in range(vocab))
            yield from (placed(name, vocab, depth, depth - 1, alone=token) for name, token in single)
    yield from Randoms(Chain(depth), vocab, 6 if small else 2)


def placed(name: str, vocab: int, depth: int, at: int, alone: int | None = None) -> Instance:
    """The rows of a scenario after drafts of `at` tokens, or after `at` times the token `alone`; elsewhere
    those of the toy, which accept and reject every token: a fault that needs special rows at one position
    shows there only if the draft comes so far.

    >>> placed("equal", 2, 2, 1).proposal[(0,)] == placed("equal", 2, 2, 1).target[(0,)]
    True
    """
    special, toy = SCENARIOS[name], SCENARIOS["toy"]

    def row(which: int, prefix: Prefix) -> Row:
        here = len(prefix) == at and (alone is None or {*prefix} <= {alone})
        return (special if here else toy)[which](vocab, prefix)

    only = " ".join([str(alone)] * at)
    where = f"after {at} tokens" if alone is None else f"after {only} alone"
    label = f"{name} {where}, chain depth {depth} V={vocab}"
    return tabulate(vocab, Chain(depth), lambda prefix: row(0, prefix), lambda prefix: row(1, prefix), label)


def two_left(vocab: int, depth: int) -> Instance:
    """An instance of which every residual holds all tokens but the first, with different masses.

    >>> two_left(3, 1).target[()], two_left(3, 1).proposal[()]
    ((1/6, 1/3, 1/2), (2/3, 1/6, 1/6))
    """
    p, q = weighted([*range(1, vocab + 1)]), weighted([vocab + 1, *[1] * (vocab - 1)])
    label = f"two tokens left, chain depth {depth} V={vocab}"
    return tabulate(vocab, Chain(depth), lambda _: p, lambda _: q, label)


def equal_rows(vocab: int, depth: int) -> Iterator[Instance]:
    """Proposals equal to the target: nothing should be rejected, and rounding decides whether it is."""
    random = Random(0)
    for n in range(8):
        row = weighted([random.randint(1, 40) for _ in range(vocab)])
        yield tabulate(
            vocab, Chain(depth), lambda _, row=row: row, lambda _, row=row: row, f"equal rows #{n}"
        )


def steep(vocab: int, depth: int) -> Instance:
    """An instance whose first ratio is just below 1, and whose later proposal exceeds the target on one
    token.

    Several tokens keep residual mass after scaling by the weight, and a wrong weight changes their
    proportions.
    """
    first = [9 + x for x in range(vocab)]

    def p(prefix: Prefix) -> Row:
        return weighted([2 + x * (x + 1) // 2 for x in range(vocab)] if prefix else first)

    def q(prefix: Prefix) -> Row:
        return weighted([8] + [1] * (vocab - 1) if prefix else first[::-1])

    return tabulate(vocab, Chain(depth), p, q, f"steep, chain depth {depth} V={vocab}")
