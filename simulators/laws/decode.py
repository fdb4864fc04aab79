"""Decoding over several iterations, with the state a verifier keeps, enumerated exactly."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from flint import fmpq

from draftproof.simulators.laws.enumerate import iteration, must_be_a_law
from draftproof.simulators.laws.repeat import carried, must_be_rationals
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, continued
from draftproof.theory.rows import Prefix, Row, one, possible
from draftproof.theory.table import Rows, Table
from draftproof.theory.verifier import Verifier


@dataclass(frozen=True)
class Decoded:
    """All possible states of decoding after some iterations.

    `states` maps (tokens emitted so far, the target that the next iteration would use) to its
    probability; `accepted` has E[tau] of each iteration.
    """

    states: dict[tuple[Prefix, Rows], Any]
    accepted: tuple[Any, ...]

    def first(self, length: int) -> Law:
        """The joint law of the first `length` tokens, as `words` has it."""
        return Law(self.words(length))

    def words(self, length: int) -> Iterator[tuple[Prefix, Any]]:
        """The first `length` tokens with parts of their mass, shorter words continued by their own target.
        Raises Invalid where a row of a target that a verifier left behind is no law.
        """
        for (word, target), mass in self.states.items():
            check = None if isinstance(target, Table) else partial(_must_be_a_law, target.vocab)
            for longer, part in continued(word, mass, target, length, check):
                yield longer[:length], part


def _must_be_a_law(vocab: int, prefix: Prefix, mass: Any, row: Row) -> None:
    if isinstance(mass, fmpq):
        must_be_rationals(row, vocab, "carry left")
    must_be_a_law(row, f"left behind after {' '.join(map(str, prefix))}", mass)


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
    states.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.law import law_of
    >>> from draftproof.theory.verifiers import named
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    >>> decode(toy, named("greedy-block"), 2).first(4) == law_of(toy.target, 4)
    True
    """
    whole = one(instance.target[()])
    states: dict[tuple[Prefix, Rows], Any] = {((), instance.target): whole}
    proposal, zero = instance.proposal, whole * 0
    accepted: list[Any] = []
    for done in range(iterations):
        accepted.append(zero)
        left: dict[Rows, dict[Prefix, Any]] = {}
        for at, ((word, target), mass) in enumerate(states.items()):
            progress(done + at / len(states))
            if length is not None and len(word) >= length:
                into = left.setdefault(target, {})
                into[word] = into.get(word, zero) + mass
                continue
            rounds = iteration(instance.draft, proposal, verifier, target, context=word, start=mass)
            for weight, draft, node, row in rounds:
                accepted[-1] = accepted[-1] + weight * (len(node.prefix) - len(word))
                following = carried(verifier, target, proposal, draft, node)
                into = left.setdefault(following, {})  # each target is hashed once a stop
                for token, part in enumerate(row):
                    if possible(part):
                        key = (*node.prefix, token)[:length]
                        into[key] = into.get(key, zero) + weight * part
        states = {(word, target): mass for target, words in left.items() for word, mass in words.items()}
    return Decoded(states, tuple(accepted))
