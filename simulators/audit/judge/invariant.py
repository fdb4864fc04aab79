"""Whether the text is a function of the seed: with the same coins the same tokens, whatever the draft, and
whatever the other requests of its batch drafted.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.sources import Every, Seeded, Source
from draftproof.simulators.audit.sandbox import Sandbox
from draftproof.simulators.audit.targets.base import DraftVerifier, paths_text
from draftproof.simulators.audit.targets.batches import ByRoles
from draftproof.simulators.instances.files import document, spelled
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.enumerate import drafts, outcomes
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix

SIZES = (2, 1), (2, 2), (3, 1)
"""(vocabulary, depth) of the instances."""


class _Kept(dict):
    # Answers of the seed, which outlive a call.
    def clear(self) -> None: ...


def varies(target: DraftVerifier, sandbox: Sandbox) -> str:
    """Two calls that the same random numbers lead to different texts, neither the other's beginning, as a
    sentence; empty if there are none. Drafts differ in tokens, length and proposal; for a function on batches
    in tokens and proposal, and so do those of the request before. Raises NotEnumerable.
    """
    for vocab, depth in SIZES:
        instance = scenario("toy", Chain(depth), vocab)
        calls = [*_calls(target, sandbox, instance)]

        def program(oracle: Oracle, calls: list = calls) -> tuple[Every, list[tuple[Prefix, str]]]:
            source, words = Every(oracle), []
            source.keyed = _Kept()
            for what, call in calls:
                target.reset()
                words.append((call(Seeded(source, "the seed")), what))
            return source, words

        for _, (source, words) in outcomes(program):
            for (one, a), (other, b) in combinations(words, 2):
                if any(x != y for x, y in zip(one, other, strict=False)):
                    coins = ", ".join(f"{u:.3g}" for u in source.state.point(Random(0)) or [])
                    found = f"{spelled(one)!r} of {a} and {spelled(other)!r} of {b}"
                    return f"with coins {coins} it makes {found}, on {json.dumps(document(instance))}"
    return ""


def _calls(
    target: DraftVerifier, sandbox: Sandbox, instance: Instance
) -> Iterator[tuple[str, Callable[[Source], Prefix]]]:
    # What is called, in words, and the call.
    batch = target if isinstance(target, ByRoles) and target.requests > 1 else None
    depth = instance.draft.depth
    given, lengths = [], range(depth if batch else 1, depth + 1)
    for length, rows in product(lengths, (instance.proposal, instance.target)):
        for _, draft in drafts(replace(instance, proposal=rows, draft=Chain(length))):
            what = f"the draft {paths_text(draft)!r}, q = {draft.root.proposal}"
            given.append((what, target.prepare(instance.target, draft)))
    for what, own in given:
        if batch is None:
            yield what, partial(target.call, sandbox, prepared=own)
            continue
        for beside, other in (given[0], given[-1]):
            both: Any = tuple(map(np.stack, zip(other, own, strict=True)))
            call = lambda source, both=both: batch.together(sandbox, source, both)[-1]  # noqa: E731
            yield f"{what}, beside {beside}", call
