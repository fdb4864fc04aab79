"""The law of one token: what a row of log-probabilities says under temperature, filters and penalties."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

CLOSE = 0.02
"""Two passes of a model may differ by so much in the log-probability of a likely token."""

LIKELY = np.log(0.01)
"""Log-probability of a token above which `ratio` compares it."""

ROUNDING = 1e-4
"""Probability that the log-probabilities' own rounding may hide."""

UNKNOWN = "\N{REPLACEMENT CHARACTER}"

OVERWEIGHT = 0.01
"""Listed probabilities may add up to so much more than 1 by the rounding of half precision."""

SPECIAL = re.compile(r"<\S+>|\[/?[A-Z_]+\]", re.IGNORECASE)
"""How tokenizers spell tokens that end a text; also others of that form, of which nothing is said then."""


@dataclass(frozen=True)
class Setting:
    """Sampling parameters, with OpenAI's and vLLM's names; `body` is what a request sends."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0

    @property
    def body(self) -> dict[str, float]:
        """The parameters of a request: temperature and top_p, and the others if they are not the default."""
        changed = {name: value for name, value in vars(self).items() if value != getattr(PLAIN, name)}
        return {"temperature": self.temperature, "top_p": self.top_p, **changed}

    @property
    def filters(self) -> bool:
        """Whether tokens may be forbidden."""
        return bool(self.top_k or self.top_p < 1 or self.min_p)

    @property
    def penalties(self) -> bool:
        """Whether the tokens of a text change the law of those after them."""
        return bool(self.presence_penalty or self.frequency_penalty or self.repetition_penalty != 1)


PLAIN = Setting()


@dataclass(frozen=True)
class Law:
    """The probabilities of one token: of each listed token, and of all other tokens together.

    `upper` [n] are the probabilities of `tokens`, or upper bounds where the rest is too small to be known.
    `rest` is that of all other tokens together; it is 0 where they are forbidden. None: it is not known, and
    the law is that of a token given that it is listed. How likely the tokens of `either` are is not known;
    the law is that of a token given that it is none of them.
    """

    tokens: tuple[str, ...]
    upper: np.ndarray
    rest: float | None
    either: tuple[str, ...] = ()

    @property
    def masses(self) -> np.ndarray:
        """`upper`, followed by the rest if there is any."""
        return np.append(self.upper, self.rest) if self.rest else self.upper

    def place(self, token: str) -> int | None:
        """The index into `masses` of an emitted token; None if the law says nothing about it, -1 if it is
        forbidden.
        """
        if token in self.tokens:
            at = self.tokens.index(token)
            return at if self.upper[at] > 0 else -1
        if token in self.either:
            return None
        return None if self.rest is None else len(self.tokens) if self.rest else -1


NOTHING = Law((), np.empty(0), None)
"""Where nothing can be said of a token."""


def is_row(row: Mapping[str, float]) -> bool:
    """Whether the values can be log-probabilities: none is NaN or above 0, and their probabilities add up to
    more than 0 and at most 1. Minus infinity is the value of a forbidden token.

    >>> is_row({"a": -0.7, "b": float("-inf")}), is_row({"a": float("nan")}), is_row({"a": -0.1, "b": -0.1})
    (True, False, False)
    """
    values = np.array([*row.values()])
    return bool((values <= ROUNDING).all() and 0 < np.exp(values).sum() <= 1 + OVERWEIGHT)


def apart(one: Law, other: Law) -> float:
    """The total variation of two laws over the tokens that both list."""
    mass = dict(zip(other.tokens, other.upper.tolist(), strict=True))
    shared = zip(one.tokens, one.upper.tolist(), strict=True)
    return sum(abs(p - mass[x]) for x, p in shared if x in mass) / 2


def ratio(one: Law, other: Law) -> float:
    """The largest difference of log-probabilities of two laws, over the tokens that are likely in both."""
    logs = dict(zip(other.tokens, np.log(other.upper.clip(ROUNDING)).tolist(), strict=True))
    shared = zip(one.tokens, np.log(one.upper.clip(ROUNDING)).tolist(), strict=True)
    return max((abs(p - logs[x]) for x, p in shared if x in logs and min(p, logs[x]) > LIKELY), default=0.0)


def law(
    row: Mapping[str, float],
    setting: Setting = PLAIN,
    before: Sequence[str] = (),
    most: int = 10**6,
    ends_shown: bool = True,
    unsure: Callable[[str], bool] | None = None,
    close: float = CLOSE,
) -> Law:
    """The law of the next token from a row of log-probabilities of the plain model: token -> number.

    Only the `most` likeliest are used: some servers add the emitted token, which must not decide what is
    listed. Tokens that share a spelling with others (parts of characters) belong to the rest. `before` are
    the tokens generated before it, for penalties. Where the server does not show an end token (`ends_shown`
    false), the law is that of a token given that it is listed and no special one. What a penalty does to
    tokens of which one is `unsure` is not known: the law is that of a token given that it is none of them.
    Probabilities may be off by a share of `close`, so tokens so near to a filter's bound may be kept or not.

    >>> from math import log
    >>> row = {"a": log(0.6), "b": log(0.3), "c": log(0.1)}
    >>> law(row, Setting(top_k=2)).upper.round(3).tolist()
    [0.667, 0.333]
    >>> law(row, Setting(top_k=2)).place("c"), law(row, PLAIN, most=2).place("c")
    (-1, 2)
    """
    listed = sorted(row.items(), key=lambda item: (-item[1], item[0]))[:most]
    hidden = [not ends_shown and bool(SPECIAL.fullmatch(token)) for token, _ in listed]
    told = [bool(token) and UNKNOWN not in token for token, _ in listed]
    shown = np.array(told, dtype=bool) & ~np.array(hidden, dtype=bool)
    tokens = tuple(token for (token, _), each in zip(listed, shown, strict=True) if each)
    every = np.array([value for _, value in listed], dtype=float)
    if setting.filters:
        # tokens that are not listed, or not told apart, may be more likely than listed ones after a penalty
        exact = all(told) and not setting.penalties
        return _filtered(tokens, every, shown, setting, ends_shown, close) if exact else NOTHING
    logs = every[shown]
    rest = max(1 - float(np.exp(logs).sum()), ROUNDING) if ends_shown and setting == PLAIN else None
    either: tuple[str, ...] = ()
    if setting.penalties:
        counts = np.array([before.count(token) for token in tokens])
        logs = logs - setting.presence_penalty * (counts > 0) - setting.frequency_penalty * counts
        if unsure is not None:
            sure = np.array([not unsure(token) for token in tokens], dtype=bool)
            either = tuple(token for token, each in zip(tokens, sure, strict=True) if not each)
            tokens, logs = tuple(token for token in tokens if token not in either), logs[sure]
    return Law(tokens, np.exp(logs) if rest else normalised(logs / setting.temperature), rest, either)


def normalised(logs: np.ndarray) -> np.ndarray:
    """Probabilities in proportion to exp(logs)."""
    mass = np.exp(logs - logs.max(initial=-np.inf))
    return mass / mass.sum()


def _filtered(
    tokens: tuple[str, ...],
    every: np.ndarray,
    shown: np.ndarray,
    setting: Setting,
    ends_shown: bool,
    close: float,
) -> Law:
    """The law under filters of the tokens that are `shown`, of `every` log-probability that is listed. Tokens
    that are not end a text: they may be kept like others, or forbidden before the filters.
    """
    mass = np.exp(every)
    known = setting.temperature == 1 and (ends_shown or bool(mass[-1] < CLOSE / 2))
    mass = mass if known else normalised(every / setting.temperature)
    ways = [(shown, _kept(mass, setting, known, close))]
    if not shown.any():
        return NOTHING
    own = mass[shown]
    if not shown.all():
        ways.append(
            (np.ones(len(own), dtype=bool), _kept(own / (1 - mass[~shown].sum()), setting, known, close))
        )
    least, most, whole = len(own), 0, set[bool]()
    for each, found in ways:
        if found is None:
            return NOTHING
        least, most = min(least, int(each[: found[0]].sum())), max(most, int(each[: found[1]].sum()))
        whole.add(found[2])
    if whole == {False}:
        return Law(tokens, own / own.sum(), None)  # how much is kept beyond the listed tokens is not known
    if not least or False in whole:
        return NOTHING
    return Law(tokens[:least], own[:least] / own[:least].sum(), 0.0, tokens[least:most])


def _kept(mass: np.ndarray, setting: Setting, known: bool, close: float) -> tuple[int, int, bool] | None:
    """(how many of the likeliest tokens the filters surely keep, how many they may keep, whether no other is
    kept). None if that cannot be told. `known`: masses are probabilities, not only in proportion to them.
    """
    low = high = len(mass)
    whole = False

    def bounded(surely: np.ndarray, perhaps: np.ndarray) -> tuple[int, int, bool]:
        return min(low, max(1, int(surely.sum()))), min(high, max(1, int(perhaps.sum()))), True

    if setting.top_k and setting.top_k < len(mass):  # the first token that is dropped is seen
        edge = mass[setting.top_k - 1]
        near = int((mass >= edge * (1 - close)).sum())
        if near == len(mass):
            return None
        tied = near > setting.top_k  # another token may be kept in its place
        low = int((mass > edge * (1 + close)).sum()) if tied else setting.top_k
        high, whole = near, True
    if setting.top_p < 1:
        if not known and not whole:
            return None
        total = mass[:high].sum() if whole else 1.0
        cut, kept = setting.top_p * total, mass[:high]
        sums = np.append(0, np.cumsum(kept))  # tokens that are about as likely may be ahead of one another
        surely = sums[np.searchsorted(-kept, -kept * (1 + close))]
        perhaps = sums[np.searchsorted(-kept, -kept * (1 - close), "right")] - kept
        if sums[-1] >= cut + close / 2 or whole:
            low, high, whole = bounded(perhaps < cut - close / 2, surely < cut + close / 2)
        elif perhaps[-1] >= cut - close / 2:
            return None
    if setting.min_p:
        bound = setting.min_p * mass[0]
        if mass[-1] < bound * (1 - close):
            low, high, whole = bounded(mass >= bound * (1 + close), mass >= bound * (1 - close))
        elif mass[-1] < bound * (1 + close):
            return None
    return low, max(low, high), whole
