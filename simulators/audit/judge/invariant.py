"""Whether the text is a function of the seed: with the same coins the same tokens, whatever the draft."""

import json
from collections.abc import Iterator
from itertools import combinations, product
from random import Random

from draftproof.simulators.audit.coins.sources import Every, Seeded
from draftproof.simulators.audit.sandbox import Sandbox
from draftproof.simulators.audit.targets.base import DraftVerifier, paths_text
from draftproof.simulators.instances.files import document, spelled
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.enumerate import outcomes
from draftproof.theory.draft import Draft, chained
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

SIZES = (2, 1), (2, 2), (3, 1)
"""(vocabulary, depth) of the instances."""


class _Kept(dict):
    # Answers of the seed, which outlive a call.
    def clear(self) -> None: ...


def varies(target: DraftVerifier, sandbox: Sandbox) -> str:
    """Two drafts that the same random numbers lead to different texts, neither the other's beginning, as a
    sentence; empty if there are none. Drafts differ in tokens, length and proposal. Raises NotEnumerable.
    """
    for vocab, depth in SIZES:
        instance = scenario("toy", Chain(depth), vocab)
        prepared = [(each, target.prepare(instance.target, each)) for each in _drafts(instance)]

        def program(oracle: Oracle, prepared: list = prepared) -> tuple[Every, list[Prefix]]:
            source, words = Every(oracle), []
            source.keyed = _Kept()
            for _, arguments in prepared:
                target.reset()
                words.append(target.call(sandbox, Seeded(source, "the seed"), arguments))
            return source, words

        for _, (source, words) in outcomes(program):
            for (a, one), (b, other) in combinations(zip(prepared, words, strict=True), 2):
                if any(x != y for x, y in zip(one, other, strict=False)):
                    coins = ", ".join(f"{u:.3g}" for u in source.state.point(Random(0)) or [])
                    found = " and ".join(
                        f"{spelled(word)!r} of the draft {paths_text(draft)!r}, q = {draft.root.proposal}"
                        for (draft, _), word in ((a, one), (b, other))
                    )
                    return f"with coins {coins} it makes {found}, on {json.dumps(document(instance))}"
    return ""


def _drafts(instance: Instance) -> Iterator[Draft]:
    models: tuple[Rows, Rows] = instance.proposal, instance.target
    for length, rows in product(range(1, instance.draft.depth + 1), models):
        for tokens in product(range(instance.vocab), repeat=length):
            if all(rows[tokens[:j]][x] > 0 for j, x in enumerate(tokens)):
                yield Draft(chained(tokens, [rows[tokens[:j]] for j in range(length)]))
