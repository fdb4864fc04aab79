"""Functions called by the roles of their parameters: on one request, or on a batch of requests.

A request of a batch is judged beside others that decide nothing by chance, and whole batches by the joint law
of what their requests emit: coins that two requests share, or a selection rule that reads another request's
tokens, show only there.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from importlib import import_module
from itertools import combinations, product
from math import prod
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np

from draftproof.simulators.audit.coins.sources import Source
from draftproof.simulators.audit.rounding import SHIFT
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets import base
from draftproof.simulators.audit.targets.functions import Function
from draftproof.simulators.audit.targets.readings import plain
from draftproof.simulators.instances.batches import WITNESSES, Batches, witness
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Prefix
from draftproof.theory.selection.batch import Batch, Shown
from draftproof.theory.selection.view import Rule, View
from draftproof.theory.table import Table

BESIDE, REQUESTS = 3, 4
"""Requests of a batch of which one makes random choices, and of one of which two do."""

BY_ROW = ", next token drawn from the row that it returns"
"""What the report says of a function whose results are read so."""

Decision: TypeAlias = tuple[Shown | Prefix, ...]
"""For each request what of its draft is verified, or the tokens that it emits."""

SIZES = ((2, 1, 2, 1, 6), (2, 2, 2, 2, 9), (3, 2, 2, 3, 6), (2, 2, 3, 3, 3))
"""(vocabulary, depth, requests, capacity, number of batches) of selection rules, smallest first."""

PAIRS = ((2, 1, "toy", "toy"), (3, 1, "seesaw", "seesaw"), (2, 2, "toy", "reversed"))
"""(vocabulary, depth, scenario, scenario) of two requests judged together, at all pairs of places. The
residual of `seesaw` has two tokens, so that noise shared by recovered tokens shows.
"""


class ByRoles(Function):
    """A function called by the roles of its parameters, in one `layout`, with one reading of its result.

    Layouts: `single`, one request; `batch`, BESIDE of them; `flat`, their rows one after another; `one`, a
    batch of one.
    """

    capacity = 0  # of the batch that is judged, where a selection rule asks for it

    def __init__(
        self,
        verify: Any,
        roles: Sequence[base.Parameter],
        layout: str,
        read: Callable[[Any, list[int]], list[int]] | None,
        *,
        tensors: bool,
        name: str = "",
        dtype: str | None = None,
    ):
        self.roles, self.layout, self.read = roles, layout, read
        self.logits = self.takes("p_logits") or self.takes("p_logs")
        self.bonus = self.takes("bonus")
        self.requests = BESIDE if layout in ("batch", "flat") else 1
        self.alone = ""  # why it is judged in a batch of one
        name = name or getattr(verify, "__name__", "function")
        super().__init__(verify, name=name, dtype=dtype, tensors=tensors, roles=roles)
        self.namespace, self.draw = namespace_of(verify), None
        self.adapter += f", {layout}"
        self.rule = Rule(self.name, "audited", "unknown", predictable=False, select=_elsewhere)

    def call(self, sandbox: Sandbox, source: Source, prepared: base.Arrays, position: int = 0) -> Prefix:
        given, place = beside(*prepared, self.requests)
        return self.together(sandbox, source, given, position)[place]

    def together(self, sandbox: Sandbox, source: Source, given: base.Arrays, position: int = 0) -> Any:
        """What every request of a batch emits; the arrays have an axis of requests first."""
        return super().call(sandbox, source, given, position)

    def programs_on(self, sandbox: Sandbox, batch: Batch) -> Iterator[base.Program]:
        """The programs of every draft of the batch; the weights sum to 1."""
        if len({(request.vocab, request.draft.depth) for request in batch.requests}) > 1:
            raise BadInput("the requests of an audited batch have one vocabulary and one draft depth")
        for each in product(*(list(drafts(request)) for request in batch.requests)):
            parts = [
                self.prepare(request.target, draft)
                for request, (_, draft) in zip(batch.requests, each, strict=True)
            ]
            given: Any = tuple(map(np.stack, zip(*parts, strict=True)))
            run: Any = partial(self._run, sandbox, batch.capacity, given)
            weight = prod((mass for mass, _ in each), start=ONE)
            yield base.Program(weight, run, tuple(draft for _, draft in each))

    def batches(self, vocab: int, depth: int) -> Iterator[Batch]:
        """Batches of two requests at all pairs of places, beside others that decide nothing by chance."""
        for v, d, *names in (size for size in PAIRS if size[0] <= vocab and size[1] <= depth):
            one, other = (scenario(name, Chain(d), v) for name in names)
            for first, second in combinations(range(REQUESTS), 2):
                requests = [constant_request(v, d, at) for at in range(REQUESTS)]
                requests[first], requests[second] = one, other
                where = f"{one.name}, request {first + 1}, and {other.name}, request {second + 1}"
                yield Batch(tuple(requests), self.rule, d * REQUESTS, (), where)

    def _run(self, sandbox: Sandbox, capacity: int, given: base.Arrays, source: Source) -> tuple[Any, None]:
        self.capacity = capacity
        return self.together(sandbox, source, given), None

    def _emitted(self, result: Any, given: base.Arrays, known: dict[str, Any]) -> Any:
        p, x, words = known["p"], known["tokens"], []
        drafted = [[int(each) for each in row] for row in x]
        for at in range(len(x)):
            word = self._understood(result, at, drafted)
            last = word[-1] if word else 0
            row = last if isinstance(last, list) else None
            if row is not None and not self.adapter.endswith(BY_ROW):
                self.adapter += BY_ROW
            if self.bonus and row is None and last >= p.shape[2]:
                row = p[at, -1].tolist()  # the id V stands for a draw from the last row, made elsewhere
            if row is not None:
                word = [*word[:-1], int(known["rng"].choice(p.shape[2], p=np.divide(row, sum(row))))]
            words.append(word)
        vocab, most = given[0].shape[2], given[2].shape[1] + 1
        return tuple(base.emitted(word, vocab, most) for word in words)

    def _understood(self, result: Any, at: int, drafts: list[list[int]]) -> list[int]:
        try:
            found = plain(result)
            one = found if self.layout == "single" else _request(found, at, len(drafts))
            return self.read(one, drafts[at])  # type: ignore[misc]
        except (ValueError, TypeError, IndexError, KeyError, AttributeError):
            kind, fields = type(result).__name__, ", ".join(getattr(result, "__dict__", ()))
            kind += f" of {fields}," if fields else ""
            raise Fault("returns garbage", f"a {kind} that is not read as tokens") from None

    def arguments(self, known: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        p, q, x, rng = (known[role] for role in ("p", "q", "tokens", "rng"))
        count, depth = x.shape
        library: Any = import_module("torch") if self.tensors else np
        if self.tensors:  # torch's own, unless it is asked for
            asked = any(role == "rng" and not by_name for _, role, by_name in self.roles)
            rng = library.default_generator if asked else None

        def laid(values: Any) -> Any:
            if self.layout == "flat":
                return values.reshape(-1, *values.shape[2:])
            return values[0] if self.layout == "single" else values

        bonus = p.shape[2]
        counts = [depth] * count
        given: dict[str, Any] = {
            "gamma": depth,
            "rng": rng,
            "position": 0,
            "temperature": 1.0,
            "temperatures": library.ones(count),
            "false": False,
            "counts": counts if self.layout == "flat" else library.asarray(counts),
            "ends": library.asarray([depth * (at + 1) for at in range(count)]),
            "bonus": bonus if self.layout == "single" else library.asarray([[bonus]] * count),
            "tokens": laid(x),
            "rooted": laid(library.asarray(np.insert(x, 0, 0, axis=1))),
            "capacity": self.capacity,
        }
        with np.errstate(divide="ignore"):
            for role, values in (("p", laid(p[:, :-1] if self.bonus else p)), ("q", laid(q))):
                given |= {role: values, f"{role}_logs": library.log(values)}
        given |= {"q_logits": given["q_logs"], "p_logits": given["p_logs"] + SHIFT}  # as models give them
        return super().arguments(given)


class Selection(ByRoles):
    """select(target_probs, draft_probs, draft_tokens, capacity[, rng]) of a batch of R requests.

    Arrays are [R, gamma + 1, V], [R, gamma, V] and [R, gamma], numpy arrays or, with `tensors`, torch
    tensors. The function returns R numbers, how many drafted tokens of each request are verified; these are
    then verified token by token. A function that verifies too returns R lists of emitted tokens instead.
    Raises BadInput if the parameters do not fit.

    >>> Selection(lambda p, q, tokens, capacity: [capacity, 0], name="first").adapter
    'selection rule'
    """

    def __init__(
        self,
        select: Callable[..., Any],
        *,
        name: str = "",
        dtype: str | None = None,
        tensors: bool | None = None,
        slow: bool = False,
    ):
        self._identify(select, name)
        roles = base.parameters_of(base.signature(select), self.name, (*base.INPUTS, "capacity"), ("rng",))
        tensors = "torch" in self.namespace if tensors is None else tensors
        super().__init__(select, roles, "batch", None, tensors=tensors, name=self.name, dtype=dtype)
        self.adapter, self.slow, self.requests = "selection rule", slow, 0

    def instances(self, vocab: int, depth: int, rounds: int) -> list[Batch]:
        """The batches of the audit, smallest first: random ones, then those on which known rules fail."""
        sizes = [size for size in SIZES if size[0] <= vocab and size[1] <= depth]
        sizes = sizes[:1] if self.slow else sizes
        found = [batch for v, *size in sizes for batch in Batches(self.rule, v, *size)]
        for batch in (*(witness(name, self.rule) for name in WITNESSES), *ties(self.rule)):
            fits = all(each.vocab <= vocab and each.draft.depth <= depth for each in batch.requests)
            found += [batch] if fits and not (self.slow and _size(batch) > 4) else []
        return sorted(found, key=_size)

    def _emitted(self, result: Any, given: base.Arrays, known: dict[str, Any]) -> Decision:
        found, count = plain(result), len(given[2])
        if not isinstance(found, list | tuple) or len(found) != count:
            raise Fault("returns garbage", f"not one entry for each of {count} requests")
        vocab = given[0].shape[2]
        return tuple(
            _decided(plain(each), tuple(draft), vocab)
            for each, draft in zip(found, given[2].tolist(), strict=True)
        )


def beside(p: np.ndarray, q: np.ndarray, x: np.ndarray, count: int) -> tuple[base.Arrays, int]:
    """A request among `count`, and its place. The others, how many of their tokens are accepted, and the
    place depend on the target's first row only: a rule that cuts all requests where one of them ends then
    reads nothing of this request's draft.
    """
    if count == 1:
        return (p[None], q[None], x[None]), 0
    vocab, depth = q.shape[1], len(q)
    chance = crc32(p[0].tobytes())
    place, accepted = chance % count, chance // count % (depth + 1)
    others = [_constant(vocab, depth, at, accepted) for at in range(count)]
    others[place] = p, q, x
    both = (np.stack([each[at] for each in others]) for at in range(3))
    together, proposals, tokens = both
    return (together.astype(p.dtype), proposals.astype(q.dtype), tokens), place


def constant_request(vocab: int, depth: int, at: int) -> Instance:
    """A request of which one draft is made, and all or none of its tokens are accepted."""
    p, q, x = _constant(vocab, depth, at, 0)
    tokens = tuple(x.tolist())
    target, proposal = (
        Table.exact(vocab, {tokens[:n]: list(map(int, row)) for n, row in enumerate(rows)}) for rows in (p, q)
    )
    return Instance(target, proposal, Chain(depth))


@lru_cache(64)
def _constant(vocab: int, depth: int, at: int, accepted: int) -> base.Arrays:
    # Of four requests two draft all zeros or all ones, two in turn 0 and 1; every second one is rejected
    # after so many accepted tokens.
    tokens = (np.arange(depth) * (at // 2) + at) % min(vocab, 2)
    q = np.zeros((depth, vocab))
    q[np.arange(depth), tokens] = 1
    p = np.concatenate([q, np.eye(1, vocab)])
    if at % 2 and accepted < depth:
        p[accepted] = np.roll(p[accepted], 1)
    return base.arrays(p, q, tokens, "float64")


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


def called(verify: Any) -> Any:
    """What is called: a function, or an object's method `forward`."""
    return verify if inspect.isroutine(verify) or not hasattr(verify, "forward") else verify.forward


def namespace_of(verify: Any) -> dict[str, Any]:
    """The globals of its module."""
    return getattr(inspect.unwrap(called(verify)), "__globals__", {})


def _elsewhere(view: View) -> None:
    raise NotImplementedError("the audited function decides, on arrays")


def _decided(result: Any, draft: Prefix, vocab: int) -> Shown | Prefix:
    if isinstance(result, int | np.integer) and not isinstance(result, bool):
        if not 0 <= result <= len(draft):
            raise Fault("returns garbage", f"{result} verified tokens, of {len(draft)} drafted")
        return Shown(draft[: int(result)], int(result))
    return base.emitted(result, vocab, len(draft) + 1)


def _request(result: Any, at: int, count: int) -> Any:
    # The part of a batch's result that belongs to one request. A tuple has a part for each kind of result, or
    # the tokens of each request.
    row = isinstance(result, tuple) and hasattr(result[0], "__getitem__")
    row = row and not any(hasattr(each, "__getitem__") for each in result[0])
    if isinstance(result, tuple) and not (len(result) == count and row):
        return tuple(_request(each, at, count) for each in result)
    return result[at] if hasattr(result, "__getitem__") else result


def _size(batch: Batch) -> int:
    return prod(request.vocab**request.draft.depth for request in batch.requests)
