"""Decoding over several iterations, with the state a verifier keeps, enumerated exactly."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from flint import fmpq

from draftproof.simulators.laws.enumerate import iteration, must_be_a_law
from draftproof.simulators.laws.repeat import carried, must_be_rationals, of_the_project
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
            check = [] if isinstance(target, Table) else [partial(_must_be_a_law, target.vocab)]
            for longer, part in continued(word, mass, target, length, *check):
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
    context: Prefix = (),
    start: Any = None,
) -> Decoded:
    """The exact state of decoding after `iterations` rounds of draft, verify, emit, from `context` on.

    With `length` each word is followed only until it has this many tokens and is cut there, which is enough
    for `first(length)`; in `accepted` only the first entry is then E[tau] of an iteration. `progress` is
    called with the number of iterations done, a fraction that includes the current iteration's finished
    states. `start` is the mass of the context, 1 if None.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.law import law_of
    >>> from draftproof.theory.verifiers import named
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    >>> decode(toy, named("greedy-block"), 2).first(4) == law_of(toy.target, 4)
    True
    """
    whole, tables = one(instance.target[()]), (instance.target, instance.proposal)
    states: dict[tuple[Prefix, Rows], Any] = {(context, instance.target): whole if start is None else start}
    alike = of_the_project(verifier) and all(type(table) is Table for table in tables)
    memory = max(len(prefix) for table in tables for prefix, _ in table.given()) if alike else 0
    proposal, zero = instance.proposal, whole * 0
    accepted: list[Any] = []
    for done in range(iterations):
        accepted.append(zero)
        left: dict[Rows, dict[Prefix, Any]] = {}
        nexts: dict[Prefix, Decoded] = {}  # tokens that rows depend on -> decoding one token after them
        for at, ((word, target), mass) in enumerate(states.items()):
            progress(done + at / len(states))
            if length is not None and len(word) >= length:
                into = left.setdefault(target, {})
                into[word] = into.get(word, zero) + mass
                continue
            if alike and len(word) + 1 == length and target is instance.target and word != context:
                last = word[max(len(word) - memory, 0) :]
                if last not in nexts:
                    nexts[last] = decode(instance, verifier, 1, len(last) + 1, context=last)
                into = left.setdefault(target, {})
                for (after, _), part in nexts[last].states.items():
                    key = (*word, after[-1])
                    into[key] = into.get(key, zero) + mass * part
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
