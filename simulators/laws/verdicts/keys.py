"""Laws over keys: the text of a decoder whose coins have names, and how much the keys tell of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from flint import fmpq

from draftproof.simulators.laws.enumerate import Invalid, deepen, outcomes
from draftproof.simulators.laws.verdict import Verdict, Wrong
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.keys.keyed import Keyed
from draftproof.theory.keys.run import Call, Memory
from draftproof.theory.law import Law, first_difference, law_of
from draftproof.theory.numbers import ONE, ZERO, shown, text
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.selection.batch import Batch
from draftproof.theory.shared.coins import Coins, Known, Name
from draftproof.theory.shared.divergence import kl
from draftproof.theory.verifier import Verifier

VALUES = 1_000
"""Most values of the keys of which a strength is the mean."""


@dataclass(frozen=True)
class KeysVerdict(Verdict):
    """The verdict on a verifier under keys: the law of the first N tokens over all keys.

    `expected_accepted` is that of the first call. `again` is the probability that a name is read twice, in
    any call. `strength` is what the keys tell of the first token, the mean over keys of KL(its law given the
    keys || p) in nats; None if it was not measured, as for more than VALUES values of the keys. `most` is the
    entropy of p, the most that is possible without a bias.
    """

    keys: str = ""
    again: fmpq = ZERO
    strength: float | None = None
    most: float = 0.0

    @property
    def more(self) -> dict[str, Any]:
        known = {"read_again": text(self.again), "strength": self.strength, "strength_at_most": self.most}
        return {"keys": self.keys, **known}

    def __str__(self) -> str:
        strength = "not measured" if self.strength is None else f"{self.strength:.4f}"
        again = f"a name is read twice with probability {shown(self.again)}"
        return f"strength {strength}, at most {self.most:.4f} nats; {again}"


def texts(instance: Instance, verifier: Verifier, keys: Keyed, tokens: int) -> tuple[Law, fmpq, fmpq]:
    """The law of the first tokens, over as many calls as they take, E[tau] of the first call, and how likely
    a name is read twice. Raises Invalid as `iteration` does, and BadInput for a verifier that keeps state or
    computes in floats.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.keys import keys
    >>> from draftproof.theory.verifiers import named
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))
    >>> texts(toy, named("token"), keys("dual-key"), 3)[0] == law_of(toy.target, 3)
    True
    """
    if verifier.carry is not None or verifier.rounding is not None:
        why = "computes in floats" if verifier.carry is None else "keeps state between calls"
        raise BadInput(f"{verifier.name} {why}, and is not judged under keys")
    deepen(instance.draft)
    accepted, states, done = ZERO, {Memory(): ONE}, dict[Memory, fmpq]()
    while states:
        after = dict[Memory, fmpq]()
        for memory, mass in states.items():

            def call(oracle: Oracle, memory: Memory = memory) -> tuple[Memory, int]:
                return Call(Coins(oracle, dict(memory.known)), instance, keys, memory).emitted(verifier)

            for weight, (left, tau) in outcomes(call, mass):
                accepted += weight * tau * (not memory.text)
                into = after if len(left.text) < tokens else done
                into[left] = into.get(left, ZERO) + weight
        states = after
    law = Law((memory.text[:tokens], mass) for memory, mass in done.items())
    return law, accepted, sum((mass for memory, mass in done.items() if memory.again), ZERO)


def given_keys(
    cases: Sequence[Instance | Batch], verifier: Verifier, keys: Keyed, tokens: int
) -> Iterator[tuple[fmpq, list[Law]]]:
    """(probability, the law of the first tokens in each case) of every value of the keys that they share, as
    far as the texts read them; of a batch the last request's, with the others beside it in the first call.
    """

    def words(known: dict[Name, Known], named: Oracle, case: Instance | Batch, fresh: Oracle) -> Prefix:
        coins, memory = Coins(fresh, known, named), Memory()
        requests = case.requests if isinstance(case, Batch) else (case,)
        calls = [Call(coins, request, keys, memory) for request in requests]
        if isinstance(case, Batch):
            selected = case.select([call.draft.path[-1].prefix for call in calls])
            for call, shown in zip(calls, selected, strict=True):
                call.most = shown.kept
        for call in calls:
            memory, _ = call.emitted(verifier)
        while len(memory.text) < tokens:
            memory, _ = Call(coins, requests[-1], keys, memory).emitted(verifier)
        return memory.text[:tokens]

    def laws(named: Oracle) -> list[Law]:
        known: dict[Name, Known] = {}
        each = (partial(words, known, named, case) for case in cases)
        return [Law((word, mass) for mass, word in outcomes(program)) for program in each]

    return outcomes(laws)


def judge_keys(
    instance: Instance, verifier: Verifier, keys: Keyed, tokens: int, measured: bool = False
) -> tuple[KeysVerdict, Law]:
    """The verdict on the first tokens, with the strength if it is `measured`, and their law over keys; empty
    if it is invalid.
    """
    head, strength = (verifier.name, instance.name, keys.declared(verifier)), None
    first = law_of(instance.target, 1)
    try:
        law, accepted, again = texts(instance, verifier, keys, tokens)
        if measured:
            each = [*islice(given_keys([instance], verifier, keys, 1), VALUES + 1)]
            if len(each) <= VALUES:
                strength = sum(float(mass) * kl(given, first) for mass, (given,) in each)
    except Invalid as error:
        return KeysVerdict(*head, ONE, ZERO, None, str(error), str(keys)), Law([])
    want = law_of(keys.meant(instance.target), tokens)
    wrong = Wrong(*differs) if (differs := first_difference(law, want)) else None
    figures = law.total_variation(want), accepted, wrong, "", str(keys), again, strength
    return KeysVerdict(*head, *figures, -kl(first, dict.fromkeys(first, ONE))), law
