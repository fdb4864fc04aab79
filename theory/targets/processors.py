"""Processors change a next-token row according to the tokens before it, as grammars and penalties do.

A processor is a function of the prefix, so a drafted row must be processed with the drafted tokens in its
history. Rows are probabilities, so a bias or a penalty is a factor where logits would have a summand.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate
from typing import Annotated, Any, ClassVar, TypeAlias, dataclass_transform, get_type_hints

from flint import fmpq

from draftproof.theory.errors import BadInput, quoted, whole
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ZERO, exact
from draftproof.theory.rows import Prefix, Row, descending, normalise, point, total
from draftproof.theory.table import Rows, Table

PROCESSORS: dict[str, type] = {}
"""Kind in an instance file -> processor."""


@dataclass_transform(frozen_default=True)
class Processor(ABC):
    """One step of processing: weights in place of the row's masses, not yet normalised.

    A subclass is a frozen dataclass, in `PROCESSORS` by its kind. A setting is annotated with the function
    that reads it, or refuses it with BadInput.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str) -> None:
        cls.kind = kind
        PROCESSORS[kind] = dataclass(frozen=True)(cls)

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            for check in getattr(hint, "__metadata__", ()):
                object.__setattr__(self, name, check(name, getattr(self, name)))

    @abstractmethod
    def __call__(self, row: Row, prefix: Prefix) -> Row: ...


def positive(name: str, value: object) -> fmpq:
    """A number above 0."""
    number = exact(value)
    if not number > 0:
        raise BadInput(f"{name} must be above 0, not {number}")
    return number


number = partial(whole, least=1, most=1000)


def by_token(name: str, value: object) -> dict[str, fmpq]:
    """A factor for each token listed."""
    if not isinstance(value, dict):
        raise BadInput(f"{name} must be an object: token -> factor")
    return {token: positive("a factor", factor) for token, factor in value.items()}


def rational_power(name: str, value: object) -> fmpq:
    """A temperature of 1/n, or of 0."""
    number = exact(value)
    if number < 0 or (number > 0 and (1 / number).q != 1) or (number > 0 and number < fmpq(1, 1000)):
        raise BadInput(f"{name} {quoted(value)} has no rational rows; exact are 0, 1, 1/2, 1/3 ...")
    return number


class Mask(Processor, kind="mask"):
    """A grammar: a deterministic automaton, state -> token -> state. Tokens without an edge are forbidden.

    As it is, the law is *locally projected*: each row without the forbidden tokens, which is what engines do.
    With `whole` it is *conditional* on the first `whole` tokens being a valid text, one that ends in one of
    the states `ends`, by default in any: a row's masses times the probability that p completes validly. After
    a prefix that the automaton does not accept the row stays as it is: that prefix is never emitted.

    >>> Mask("a", {"a": {"0": "a"}})((fmpq(1, 2), fmpq(1, 2)), (0,))
    (1/2, 0)
    >>> trap = {"a": {"0": "b", "1": "c"}, "b": {"0": "b"}, "c": {"0": "c", "1": "c"}}
    >>> rows = Table.exact(2, {(): ["1/2", "1/2"], (0,): ["1/10", "9/10"]})
    >>> Processed(rows, [Mask("a", trap)])[()], Processed(rows, [Mask("a", trap, 2)])[()]
    ((1/2, 1/2), (1/11, 10/11))
    """

    start: str
    edges: Mapping[str, Mapping[str, str]]
    whole: int | None = None
    ends: Sequence[str] = ()

    def __post_init__(self) -> None:
        edges = self.edges
        if not isinstance(edges, dict) or not all(isinstance(each, dict) for each in edges.values()):
            raise BadInput("edges must be an object: state -> token -> state")
        if self.whole is not None:
            number("whole", self.whole)
        if not isinstance(self.ends, list | tuple):
            raise BadInput("ends must be a list of states")
        for state in (self.start, *self.ends, *(x for each in edges.values() for x in each.values())):
            if not isinstance(state, str) or state not in edges:
                raise BadInput(f"state {quoted(state)} is not in edges")
            if not edges[state]:
                raise BadInput(f"state {quoted(state)} has no way out")

    def __call__(self, row: Row, prefix: Prefix) -> Row:
        state = self.state(prefix)
        if state is None:
            return row
        return tuple([mass if str(x) in self.edges[state] else ZERO for x, mass in enumerate(row)])

    @property
    def meant(self) -> str:
        """Which law the masked rows follow, in words."""
        whole = self.whole
        return f"law given a valid text of {whole} tokens" if whole else "locally projected law"

    def state(self, prefix: Prefix) -> str | None:
        """The automaton's state after a prefix; None if it does not accept it."""
        state: str | None = self.start
        for token in prefix:
            state = self.edges[state].get(str(token)) if state is not None else None
        return state

    def over(self, rows: Rows) -> Callable[[Row, Prefix], Row]:
        """The step on a model, of whose rows after the prefix it reads too if a `whole` text is meant."""
        if self.whole is None:
            return self

        @cache
        def completed(prefix: Prefix) -> Any:  # the probability that p completes the prefix validly
            state = self.state(prefix)
            if state is None or len(prefix) == self.whole:
                return fmpq(state is not None and (not self.ends or state in self.ends))
            return sum((mass * completed((*prefix, x)) for x, mass in enumerate(rows[prefix])), ZERO)

        def conditional(row: Row, prefix: Prefix) -> Row:
            if len(prefix) >= (self.whole or 0) or (prefix and not completed(prefix)):
                return self(row, prefix)
            return tuple([mass * completed((*prefix, x)) for x, mass in enumerate(row)])

        return conditional


class Frequency(Processor, kind="frequency"):
    """Each earlier occurrence of a token multiplies its weight by `factor`: exp(-penalty) of logits."""

    factor: Annotated[Any, positive]

    def __call__(self, row: Row, prefix: Prefix) -> Row:
        seen = Counter(prefix)
        return tuple([mass * self.factor ** seen[x] for x, mass in enumerate(row)])


class Presence(Processor, kind="presence"):
    """A token that occurred has its weight multiplied by `factor`, once."""

    factor: Annotated[Any, positive]

    def __call__(self, row: Row, prefix: Prefix) -> Row:
        return tuple([mass * self.factor if x in prefix else mass for x, mass in enumerate(row)])


class Repetition(Processor, kind="repetition"):
    """A token that occurred has its log-probability multiplied by `penalty`, a whole number."""

    penalty: Annotated[int, number]

    def __call__(self, row: Row, prefix: Prefix) -> Row:
        return tuple([mass**self.penalty if x in prefix else mass for x, mass in enumerate(row)])


class Bias(Processor, kind="bias"):
    """The weight of each token listed is multiplied by its factor."""

    factors: Annotated[Any, by_token]

    def __call__(self, row: Row, prefix: Prefix) -> Row:
        return tuple([mass * self.factors.get(str(x), 1) for x, mass in enumerate(row)])


class MinP(Processor, kind="min-p"):
    """Tokens below `share` of the largest mass are removed."""

    share: Annotated[Any, positive]

    def __call__(self, row: Row, prefix: Prefix) -> Row:
        least = max(row) * self.share
        return tuple([ZERO if mass < least else mass for mass in row])


class TopK(Processor, kind="top-k"):
    """Only the `count` likeliest tokens stay, ties by id."""

    count: Annotated[int, number]

    def __call__(self, row: Row, prefix: Prefix) -> Row:
        stay = descending(row)[: self.count]
        return tuple([mass if x in stay else ZERO for x, mass in enumerate(row)])


class TopP(Processor, kind="top-p"):
    """Only the fewest likeliest tokens stay that together have a share `mass` of the row, ties by id."""

    mass: Annotated[Any, positive]

    def __call__(self, row: Row, prefix: Prefix) -> Row:
        order, wanted = descending(row), total(row) * self.mass
        before = accumulate((row[x] for x in order), initial=ZERO)
        stay = [x for x, mass in zip(order, before, strict=False) if mass < wanted]
        return tuple([mass if x in stay else ZERO for x, mass in enumerate(row)])


class Temperature(Processor, kind="temperature"):
    """The row at a temperature of 1/n, which is the n-th power of the row, or of 0, its likeliest token.

    Any other temperature takes roots, which are not rational, and is refused.

    >>> Temperature("1/2")((fmpq(1, 3), fmpq(2, 3)), ())
    (1/9, 4/9)
    """

    temperature: Annotated[Any, rational_power]

    def __call__(self, row: Row, prefix: Prefix) -> Row:
        if not self.temperature:
            return point(descending(row)[0], row)
        times = int((1 / self.temperature).p)
        return tuple([mass**times for mass in row])


class Processed(Table):
    """A table whose rows pass through processors, in their order, and are normalised again.

    `given` has the rows before processing. Raises BadInput for a row of which nothing is left.

    >>> Processed(Table.exact(2, {(): ["1/3", "2/3"]}), (Presence("1/2"),))[(1,)]
    (1/2, 1/2)
    """

    __slots__ = ("_processed", "_steps", "processors")

    def __init__(self, table: Table, processors: Sequence[Processor]):
        super().__init__(table.vocab, dict(table.given()))
        self.processors = tuple(processors)
        self._steps = [
            each.over(Processed(table, processors[:n])) if isinstance(each, Mask) else each
            for n, each in enumerate(self.processors)
        ]
        self._processed: dict[Prefix, Row] = {}

    def __getitem__(self, prefix: Prefix) -> Row:
        if prefix not in self._processed:
            row = super().__getitem__(prefix)
            for processor, step in zip(self.processors, self._steps, strict=True):
                row = step(row, prefix)
                if not total(row) > 0:
                    where = quoted(" ".join(map(str, prefix)))
                    raise BadInput(f"{processor.kind} leaves nothing of the row after {where}")
                row = normalise(row)
            self._processed[prefix] = row
        return self._processed[prefix]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Processed) and super().__eq__(other) and self.processors == other.processors

    __hash__ = Table.__hash__

    def __reduce__(self) -> tuple:
        return Processed, (Table(self.vocab, dict(self.given())), self.processors)


Step: TypeAlias = tuple[Processor, str]
"""A processor, and what it is on: "target", "proposal" or "both"."""


def processed(instance: Instance, steps: Sequence[Step]) -> Instance:
    """The instance with processors on its rows. Every row that a draft can reach is processed here, so that
    BadInput names the first row of which nothing is left.
    """
    if not steps:
        return instance
    tables = []
    for which, table in (("target", instance.target), ("proposal", instance.proposal)):
        mine = [step for step, on in steps if on in (which, "both")]
        tables.append(Processed(table, mine) if mine else table)
    target, proposal = tables
    reached: list[Prefix] = [()]
    for prefix in reached:  # which grows
        p = target[prefix]
        if len(prefix) < instance.draft.depth:
            q = proposal[prefix]
            reached += [(*prefix, x) for x in range(instance.vocab) if p[x] > 0 or q[x] > 0]
    return replace(instance, target=target, proposal=proposal)
