"""Decoding over several iterations, with the state a verifier keeps, enumerated exactly."""

from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq

from draftproof.simulators.laws.enumerate import iteration, must_be_a_law
from draftproof.simulators.laws.repeat import carried, must_be_rationals
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, continued
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Rows, Table
from draftproof.theory.verifier import Verifier


class _Carried:
    # A target whose rows must be laws where they are read; a table's are.
    def __init__(self, target: Rows):
        self.target, self.vocab = target, target.vocab

    def __getitem__(self, prefix: Prefix) -> Row:
        row = self.target[prefix]
        if not isinstance(self.target, Table):
            must_be_rationals(row, self.vocab, "carry left")
            must_be_a_law(row, f"left behind after {' '.join(map(str, prefix))}")
        return row


@dataclass(frozen=True)
class Decoded:
    """All possible states of decoding after some iterations.

    `states` maps (tokens emitted so far, the target that the next iteration would use) to its
    probability; `accepted` has E[tau] of each iteration.
    """

    states: dict[tuple[Prefix, Rows], fmpq]
    accepted: tuple[fmpq, ...]

    def first(self, length: int) -> Law:
        """The joint law of the first `length` tokens, shorter words continued by their own target. Raises
        Invalid where a row of a target that a verifier left behind is no law.
        """
        return Law(
            (longer[:length], part)
            for (word, target), mass in self.states.items()
            for longer, part in continued(word, mass, _Carried(target), length)
        )


def decode(
    instance: Instance,
    verifier: Verifier,
    iterations: int,
    length: int | None = None,
    progress: Callable[[float], object] = lambda done: None,
) -> Decoded:
    """The exact state of decoding after `iterations` rounds of draft, verify, emit.

    With `length` each word is followed only until it has this many tokens and is cut there, which is enough
    for `first(length)`; in `accepted` only the first entry is then E[tau] of an iteration. `progress` is
    called with the number of iterations done, a fraction that includes the current iteration's finished
    probability.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.law import law_of
    >>> from draftproof.theory.verifiers import named
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    >>> decode(toy, named("greedy-block"), 2).first(4) == law_of(toy.target, 4)
    True
    """
    states: dict[tuple[Prefix, Rows], fmpq] = {((), instance.target): ONE}
    proposal = instance.proposal
    accepted: list[fmpq] = []
    for done in range(iterations):
        accepted.append(ZERO)
        left: dict[Rows, dict[Prefix, fmpq]] = {}
        fraction = 0.0
        for (word, target), mass in states.items():
            progress(done + fraction)
            fraction += float(mass)
            if length is not None and len(word) >= length:
                into = left.setdefault(target, {})
                into[word] = into.get(word, ZERO) + mass
                continue
            rounds = iteration(instance.draft, proposal, verifier, target, context=word, start=mass)
            for weight, draft, node, row in rounds:
                accepted[-1] += weight * (len(node.prefix) - len(word))
                following = carried(verifier, target, proposal, draft, node)
                into = left.setdefault(following, {})  # each target is hashed once a stop
                for token, part in enumerate(row):
                    if part:
                        key = (*node.prefix, token)[:length]
                        into[key] = into.get(key, ZERO) + weight * part
        states = {(word, target): mass for target, words in left.items() for word, mass in words.items()}
    return Decoded(states, tuple(accepted))
