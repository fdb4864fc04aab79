"""Targets that decide about several requests at once: which drafted tokens are verified.

A selection rule cannot be judged on one request, since it may read another request's tokens. So the whole
batch is run for every draft of it and every outcome of the rule's coins, and the joint law of what the
requests emit is compared with the target's.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.coins.sources import Source
from draftproof.simulators.audit.rounding import rounding_bound
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets.base import (
    INPUTS,
    Arrays,
    Program,
    Target,
    arrays,
    emitted,
    extra,
    known_dtype,
    signature,
    tensors,
)
from draftproof.simulators.instances.batches import WITNESSES, Batches, witness
from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Prefix
from draftproof.theory.selection.batch import Batch, Shown
from draftproof.theory.selection.view import Rule, View
from draftproof.theory.table import Table

Decision: TypeAlias = tuple[Shown | Prefix, ...]
"""For each request what of its draft is verified, or the tokens that it emits."""

SIZES = ((2, 1, 2, 1, 6), (2, 2, 2, 2, 9), (3, 2, 2, 3, 6), (2, 2, 3, 3, 3))
"""(vocabulary, depth, requests, capacity, number of batches), smallest first."""

ARGUMENTS = (*INPUTS, "capacity")


class Selection(Target):
    """select(target_probs, draft_probs, draft_tokens, capacity[, rng]) of a batch of R requests.

    Arrays are [R, gamma + 1, V], [R, gamma, V] and [R, gamma], numpy arrays or, with `tensors`, torch
    tensors. The function returns R numbers, how many drafted tokens of each request are verified; these are
    then verified token by token. A function that verifies too returns R lists of emitted tokens instead.
    Raises BadInput if the parameters do not fit.

    >>> Selection(lambda p, q, tokens, capacity: [capacity, 0], name="first").adapter
    'selection rule'
    """

    adapter, style = "selection rule", "selection"

    def __init__(
        self,
        select: Callable[..., Any],
        *,
        name: str = "",
        dtype: str | None = None,
        tensors: bool | None = None,
        slow: bool = False,
    ):
        self.select, self.slow = select, slow
        self._identify(select, name)
        self.tensors = "torch" in self.namespace if tensors is None else tensors
        self.dtype = known_dtype(dtype or ("float32" if self.tensors else "float64"))
        parameters = signature(select)
        found = extra(parameters, self.name, ARGUMENTS, ("rng",)) if parameters is not None else ([], [])
        self._extra, self._named = found
        self.rule = Rule(self.name, "audited", "unknown", predictable=False, select=_elsewhere)

    def instances(self, vocab: int, depth: int, rounds: int) -> list[Batch]:
        """The batches of the audit, smallest first: random ones, then those on which known rules fail."""
        sizes = [size for size in SIZES if size[0] <= vocab and size[1] <= depth]
        if self.slow:
            sizes = sizes[:1]
        found = [batch for v, *size in sizes for batch in Batches(self.rule, v, *size)]
        known = [*(witness(name, self.rule) for name in WITNESSES), *ties(self.rule)]
        fit = (
            batch for batch in known if _fits(batch, vocab, depth) and not (self.slow and _size(batch) > 4)
        )
        return sorted([*found, *fit], key=_size)

    def programs_on(self, sandbox: Sandbox, batch: Batch) -> Iterator[tuple[Program, tuple[Prefix, ...]]]:
        """(program, drafts) of every draft of the batch; the weights sum to 1."""
        if not _fits(batch, *_shape(batch)):
            raise BadInput("the requests of an audited batch have one vocabulary and one draft depth")
        for together, weight in _drafted(batch):
            prepared = self._prepared(batch, together)

            def run(source: Source, together: Any = together, prepared: Any = prepared) -> tuple[Any, None]:
                return self._call(sandbox, source, prepared, batch, together), None

            yield Program(weight, run), together

    def bound_of(self, batch: Batch) -> fmpq:
        """The total variation that the rounding of the target's own verification can cause."""
        vocab, depth = _shape(batch)
        return rounding_bound(self.dtype, vocab, depth, len(batch.requests))

    def _prepared(self, batch: Batch, drafts: tuple[Prefix, ...]) -> Arrays:
        both = list(zip(batch.requests, drafts, strict=True))
        p = [[request.target[draft[:j]] for j in range(len(draft) + 1)] for request, draft in both]
        q = [[request.proposal[draft[:j]] for j in range(len(draft))] for request, draft in both]
        return arrays(p, q, drafts, self.dtype)

    def _call(
        self, sandbox: Sandbox, source: Source, prepared: Arrays, batch: Batch, together: tuple[Prefix, ...]
    ) -> Decision:
        given: list[Any] = [array.copy() for array in prepared]
        more, named = self._beside({"rng": sandbox.start(source)})

        def run(inputs: list[Any]) -> Decision:
            found = partial(self.select, *inputs, batch.capacity, *more, **named)
            return sandbox.call(lambda: self._decision(batch, together, found()))

        if not self.tensors:
            return run(given)
        from draftproof.simulators.audit.stand_ins.torch_mode import Answering

        with Answering(source):
            return run(tensors(given, self.dtype))

    def _decision(self, batch: Batch, drafts: tuple[Prefix, ...], result: Any) -> Decision:
        found = _plain(result)
        if not isinstance(found, list | tuple) or len(found) != len(drafts):
            raise Fault("returns garbage", f"not one entry for each of {len(drafts)} requests")
        return tuple(
            _one(each, draft, request.vocab)
            for each, draft, request in zip(map(_plain, found), drafts, batch.requests, strict=True)
        )


def ties(rule: Rule) -> Iterator[Batch]:
    """Batches on which scores are equal: after one token the proposal's row is the target's, so that the
    confidence there is 1 and the token after it has the score of that token.
    """
    p, q, same = ["3/4", "1/4"], ["1/4", "3/4"], ["1/2", "1/2"]
    requests = [
        Instance(
            Table.exact(2, {(): p, (sure,): same, (1 - sure,): p}),
            Table.exact(2, {(): q, (sure,): same, (1 - sure,): q}),
            Chain(2),
        )
        for sure in (0, 1)
    ]
    for first, second in product(requests, repeat=2):
        for capacity in (1, 2, 3):
            yield Batch((first, second), rule, capacity, (), f"equal scores, capacity {capacity}")


def _elsewhere(view: View) -> None:
    raise NotImplementedError("the audited function selects, on arrays")


def _one(result: Any, draft: Prefix, vocab: int) -> Shown | Prefix:
    if isinstance(result, int | np.integer) and not isinstance(result, bool):
        if not 0 <= result <= len(draft):
            raise Fault("returns garbage", f"{result} verified tokens, of {len(draft)} drafted")
        return Shown(draft[: int(result)], int(result))
    return emitted(result, vocab, len(draft) + 1)


def _plain(result: Any) -> Any:
    # Arrays and tensors as lists and numbers; anything else as it is.
    return result.tolist() if hasattr(result, "tolist") else result


def _drafted(batch: Batch) -> Iterator[tuple[tuple[Prefix, ...], Any]]:
    each = [[(draft.path[-1].prefix, mass) for mass, draft in drafts(r)] for r in batch.requests]
    for together in product(*each):
        yield tuple(tokens for tokens, _ in together), prod((mass for _, mass in together), start=ONE)


def _shape(batch: Batch) -> tuple[int, int]:
    return batch.requests[0].vocab, batch.requests[0].draft.depth


def _fits(batch: Batch, vocab: int, depth: int) -> bool:
    shapes = {(request.vocab, request.draft.depth) for request in batch.requests}
    return len(shapes) == 1 and all(v <= vocab and d <= depth for v, d in shapes)


def _size(batch: Batch) -> int:
    return prod(request.vocab**request.draft.depth for request in batch.requests)
