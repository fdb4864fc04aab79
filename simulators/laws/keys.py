"""Laws over keys: the text of a decoder whose coins have names, and how much the keys tell of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from draftproof.simulators.laws.enumerate import Invalid, deepen, outcomes
from draftproof.simulators.laws.verdict import Verdict, Wrong
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.keys.keyed import Keys
from draftproof.theory.keys.run import ROWS, Memory, call
from draftproof.theory.law import Law, first_difference, law_of
from draftproof.theory.numbers import ONE, ZERO, shown, text
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.shared.coins import Coins, Name, Part
from draftproof.theory.shared.divergence import kl
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier


@dataclass(frozen=True)
class KeysVerdict(Verdict):
    """The verdict on a verifier under keys: the law of the first N tokens over all keys.

    `expected_accepted` is that of the first call. `again` is the probability that a name is read twice, in
    any call. `strength` is what the keys tell of the first token, the mean over keys of KL(its law given the
    keys || p) in nats; `most` is the entropy of p, the most that is possible without a bias.
    """

    keys: str = ""
    again: fmpq = ZERO
    strength: float = 0.0
    most: float = 0.0

    @property
    def more(self) -> dict[str, Any]:
        known = {"read_again": text(self.again), "strength": self.strength, "strength_at_most": self.most}
        return {"keys": self.keys, **known}

    def __str__(self) -> str:
        again = shown(self.again)
        return f"strength {self.strength:.4f} of {self.most:.4f} nats; a name is read twice with {again}"


@dataclass(frozen=True)
class Texts:
    """The law of the first tokens over keys, E[tau] of the first call, and the probability that a name is
    read twice.
    """

    law: Law
    accepted: fmpq
    again: fmpq


def texts(instance: Instance, verifier: Verifier, keys: Keys, tokens: int) -> Texts:
    """All texts of so many tokens, over as many calls as they take. Raises Invalid as `iteration` does, and
    BadInput for a verifier that keeps state or computes in floats.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.keys import keys
    >>> from draftproof.theory.verifiers import named
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))
    >>> texts(toy, named("token"), keys("dual-key"), 3).law == law_of(toy.target, 3)
    True
    """
    _must_be_plain(verifier)
    deepen(instance.draft)
    states: dict[tuple[Memory, bool], fmpq] = {(Memory(), False): ONE}
    done: list[tuple[Prefix, fmpq]] = []
    accepted, again, first = ZERO, ZERO, True
    while states:
        after: dict[tuple[Memory, bool], fmpq] = {}
        for (memory, twice), mass in states.items():

            def program(oracle: Oracle, memory: Memory = memory) -> tuple[Memory, int, bool]:
                coins = Coins(oracle, dict(memory.known))
                left, tau = call(coins, instance, verifier, keys, memory)
                return left, tau, any(name[0] != ROWS for name in coins.again)

            for weight, (left, tau, read) in outcomes(program, mass):
                accepted += weight * tau * first
                if len(left.text) < tokens:
                    key = left, twice or read
                    after[key] = after.get(key, ZERO) + weight
                else:
                    done.append((left.text[:tokens], weight))
                    again += weight * (twice or read)
        states, first = after, False
    return Texts(Law(done), accepted, again)


def given_keys(instance: Instance, verifier: Verifier, keys: Keys, tokens: int) -> Iterator[tuple[fmpq, Law]]:
    """(probability, law of the first tokens) of every value of the keys, as far as the text reads them."""
    deepen(instance.draft)

    def law(named: Oracle) -> Law:
        known: dict[Name, Part] = {}

        def words(fresh: Oracle) -> Prefix:
            memory = Memory()
            while len(memory.text) < tokens:
                memory, _ = call(Coins(fresh, known, named), instance, verifier, keys, memory)
            return memory.text[:tokens]

        return Law((word, mass) for mass, word in outcomes(words))

    return outcomes(law)


def judge_keys(
    instance: Instance, verifier: Verifier, keys: Keys, tokens: int, measured: bool = False
) -> tuple[KeysVerdict, Law]:
    """The verdict on the first tokens, with the strength if it is `measured`, and their law over keys; empty
    if it is invalid.
    """
    head = verifier.name, instance.name, keys.declared(verifier)
    try:
        found = texts(instance, verifier, keys, tokens)
        strength = strength_of(instance, verifier, keys) if measured else 0.0
    except Invalid as error:
        return KeysVerdict(*head, ONE, ZERO, None, str(error), str(keys)), Law([])
    want = law_of(meant(instance, keys), tokens)
    wrong = Wrong(*differs) if (differs := first_difference(found.law, want)) else None
    figures = found.law.total_variation(want), found.accepted, wrong, "", str(keys), found.again
    p = dict(enumerate(instance.target[()]))
    return KeysVerdict(*head, *figures, strength, -kl(p, dict.fromkeys(p, ONE))), found.law


def strength_of(instance: Instance, verifier: Verifier, keys: Keys) -> float:
    """The mean over keys of KL(law of the first token given the keys || p), in nats."""
    p = law_of(instance.target, 1)
    return sum(float(mass) * kl(law, p) for mass, law in given_keys(instance, verifier, keys, 1))


class Meant:
    """The rows that the text follows over keys: the scheme's, and p where a context draws fresh."""

    def __init__(self, instance: Instance, keys: Keys):
        self.target, self.keys, self.vocab = instance.target, keys, instance.vocab
        assert keys.scheme.law is not None
        self.law = keys.scheme.law(keys.scheme.parameter)

    def __getitem__(self, prefix: Prefix) -> Row:
        p = self.target[prefix]
        if self.keys.fresh(self.keys.context(prefix), prefix, frozenset()):
            return p
        assert self.law.row is not None
        return self.law.row(p, p, self.law.parameter)


def meant(instance: Instance, keys: Keys) -> Rows:
    """The rows of the law that the text is to follow over keys."""
    return instance.target if keys.scheme.law is None else Meant(instance, keys)


def _must_be_plain(verifier: Verifier) -> None:
    if verifier.carry is not None:
        raise BadInput(f"{verifier.name} keeps state between calls, and is not judged under keys")
    if verifier.rounding is not None:
        raise BadInput(f"{verifier.name} computes in floats, and laws over keys are exact")
