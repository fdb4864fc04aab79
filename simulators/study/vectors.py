"""Test vectors for implementations in any language: rows, drafts, uniforms and what must follow from them.

docs/other-languages.md describes the document, docs/vectors.schema.json is its JSON Schema.
"""

from collections.abc import Iterable, Iterator
from itertools import repeat
from random import Random
from typing import Any

from flint import fmpq

from draftproof.simulators.instances.files import document
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.instances.suite import of_depth
from draftproof.simulators.laws.check import must_fit
from draftproof.simulators.laws.enumerate import Invalid, emission
from draftproof.theory.draft import Draft
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO, text
from draftproof.theory.rows import Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier

VERSION = 1
"""The version of the document; it grows when a reader of the last one could misunderstand it."""

BITS = 24
"""Uniforms are multiples of 2^-BITS below 1, so float32 has them exactly."""


class Recorder:
    """The oracle that decides by given uniforms, one a choice, and keeps what it was asked."""

    def __init__(self, uniforms: Iterator[fmpq]):
        self._uniforms = uniforms
        self.uniforms: list[fmpq] = []
        self.choices: list[dict[str, Any]] = []
        self.margin = ONE  # the least distance of a uniform from a value where its decision changes

    def _next(self) -> fmpq:
        self.uniforms.append(next(self._uniforms))
        return self.uniforms[-1]

    def accept(self, probability: Any) -> bool:
        """Whether the next uniform is below the probability."""
        u, answer = self._next(), False
        if probability > 0:  # a probability of zero is zero in any arithmetic
            answer, self.margin = u < probability, min(self.margin, abs(u - probability))
        self.choices.append({"accept": text(probability), "answer": answer})
        return answer

    def choose(self, row: Row) -> int:
        """The token whose part of [0, 1), parts in the order of tokens, holds the next uniform."""
        u, below, chosen = self._next(), ZERO, None
        possible = [token for token, mass in enumerate(row) if mass > 0]
        for token in possible:
            below += row[token]
            if token != possible[-1]:
                self.margin = min(self.margin, abs(u - below))
            if chosen is None and u < below:
                chosen = token
        assert chosen is not None
        self.choices.append({"choose": [text(mass) for mass in row], "answer": chosen})
        return chosen


def vectors(
    verifier: Verifier,
    vocab: int = 3,
    depth: int = 2,
    draft: Scheme | None = None,
    calls: int = 6,
    seed: int = 0,
) -> dict[str, Any]:
    """The document of one verifier, ready for JSON: every named scenario, with its exact law and some calls.

    Without `draft` the scenarios are on each kind of draft of that depth that the verifier is made for. On
    each instance there are `calls` random calls, one with uniforms of 0 and one with the largest uniform.
    Raises BadInput if the verifier is not made for the draft or the instances are too large to enumerate.

    >>> from draftproof.theory.verifiers import named
    >>> found = vectors(named("token"), vocab=2, depth=1)
    >>> found["instances"][0]["law"][0]
    {'tokens': [0, 0], 'exact': '1/9', 'float64': 0.1111111111111111}
    """
    schemes = [draft] if draft else [each for each in of_depth(depth) if each.label in verifier.drafts]
    if not schemes:
        raise BadInput(f"{verifier.name} is made for no draft of depth {depth}; name one with --draft")
    must_fit(verifier, schemes)
    random = Random(seed)
    return {
        "format": "draftproof vectors",
        "version": VERSION,
        "verifier": verifier.name,
        "source": verifier.source,
        "lossless": verifier.lossless,
        "instances": [
            _of_instance(each, verifier, calls, random)
            for scheme in schemes
            for each in Scenarios(scheme, vocab)
        ],
    }


def _of_instance(instance: Instance, verifier: Verifier, calls: int, random: Random) -> dict[str, Any]:
    chance = iter(lambda: fmpq(random.getrandbits(BITS), 2**BITS), None)
    try:
        found = emission(instance, verifier)
    except Invalid as error:
        raise BadInput(f"{verifier.name} has no law: {error}") from None
    streams = [*repeat(chance, calls), repeat(ZERO), repeat(fmpq(2**BITS - 1, 2**BITS))]
    return {
        "name": instance.name,
        "instance": document(instance),
        "law": [{"tokens": [*word], **_number(mass)} for word, mass in sorted(found.law().items())],
        "expected_accepted": _number(found.expected_accepted),
        "calls": [
            _call(verifier, instance.target, instance.draft.draw(Recorder(chance), instance.proposal), stream)
            for stream in streams
        ],
    }


def _call(verifier: Verifier, target: Rows, draft: Draft, uniforms: Iterator[fmpq]) -> dict[str, Any]:
    oracle = Recorder(uniforms)
    node, row = verifier.verify(oracle, draft, target)
    nodes = list(draft.root)
    at = {id(child): n for n, each in enumerate(nodes) for child in each.children}
    paths = {"paths": [[each.token for each in path[1:]] for path in draft.paths]} if draft.merged else {}
    return {
        "target_probs": _floats(target[each.prefix] for each in nodes),
        "draft_probs": _floats(each.proposal for each in nodes if each.children),
        "draft_tokens": [each.token for each in nodes[1:]],
        "parents": [at[id(each)] for each in nodes[1:]],
        **paths,
        "tokens": [*node.prefix, oracle.choose(row)],
        "uniforms": [float(u) for u in oracle.uniforms],
        "choices": oracle.choices,
        "margin": float(oracle.margin),
    }


def _number(number: fmpq) -> dict[str, Any]:
    return {"exact": text(number), "float64": float(number)}


def _floats(rows: Iterable[Any]) -> list[list[float]]:
    return [[float(mass) for mass in row] for row in rows]
