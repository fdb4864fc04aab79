"""Named scenarios in which verifiers go wrong, on any draft and vocabulary."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import fmpq

from draftproof.simulators.support.make import tabulate, weighted
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix, Row

Rule = Callable[[int, Prefix], Row]


def _weighing(weight: Callable[[int, int, Prefix], int]) -> Rule:
    # The rows in proportion to weight(x, vocab, prefix).
    return lambda vocab, prefix: weighted([weight(x, vocab, prefix) for x in range(vocab)])


def _skewed(vocab: int, prefix: Prefix) -> Row:
    # A different row after every context: weights increase from a token that depends on the context.
    start = (len(prefix) + sum((i + 2) * x for i, x in enumerate(prefix))) % vocab
    return weighted([1 + (x - start) % vocab for x in range(vocab)])


_uniform = _weighing(lambda x, V, prefix: 1)
_toy = _weighing(lambda x, V, prefix: V if x == V - 1 else 1)


def _reversed(rule: Rule) -> Rule:
    return lambda vocab, prefix: rule(vocab, prefix)[::-1]


def _one_hot(shift: int) -> Rule:
    return _weighing(lambda x, V, prefix: x == (len(prefix) + shift) % V)


def _half(parity: int) -> Rule:
    return _weighing(lambda x, V, prefix: 1 + x if x % 2 == parity else 0)


def _holes(hole: int) -> Rule:
    return _weighing(lambda x, V, prefix: 0 if x == (hole + sum(prefix)) % V else 1 + (x + hole) % 3)


def _near(vocab: int, prefix: Prefix) -> Row:
    nudge = fmpq(1, 10**12)
    row = list(_skewed(vocab, prefix))
    row[0], row[-1] = row[0] + nudge, row[-1] - nudge
    return tuple(row)


def _peaked(height: int) -> Rule:
    return _weighing(lambda x, V, prefix: height if x == sum(prefix) % V else 1)


def _seesaw(phase: int) -> Rule:
    # The ratio p/q of token 0 is alternately large and small with depth, so prefix ratios rise and fall.
    return _weighing(lambda x, V, prefix: 4 if x else 9 if (len(prefix) + phase) % 2 else 1)


SCENARIOS: dict[str, tuple[Rule, Rule]] = {
    "toy": (_toy, _reversed(_toy)),
    "equal": (_skewed, _skewed),
    "reversed": (_skewed, _reversed(_skewed)),
    "uniform proposal": (_skewed, _uniform),
    "uniform target": (_uniform, _skewed),
    "near tie": (_skewed, _near),
    "disjoint supports": (_half(0), _half(1)),
    "holes in the proposal": (_skewed, _holes(0)),
    "holes in the target": (_holes(1), _skewed),
    "holes in both": (_holes(0), _holes(1)),
    "one-hot target": (_one_hot(0), _skewed),
    "one-hot proposal": (_skewed, _one_hot(1)),
    "one-hot both, equal": (_one_hot(0), _one_hot(0)),
    "one-hot both, apart": (_one_hot(0), _one_hot(1)),
    "peaked target": (_peaked(10**6), _uniform),
    "peaked proposal": (_uniform, _peaked(10**6)),
    "seesaw": (_seesaw(0), _seesaw(1)),
    "seesaw, falling first": (_seesaw(1), _seesaw(0)),
}
"""Name -> (rule of p, rule of q): functions of the vocabulary and the prefix."""


@dataclass(frozen=True)
class Scenarios(Sequence[Instance]):
    """Every named scenario on one draft."""

    draft: Scheme
    vocab: int

    @property
    def name(self) -> str:
        return f"scenarios {self.draft.label} depth {self.draft.depth} V={self.vocab}"

    def __len__(self) -> int:
        return len(SCENARIOS)

    def __getitem__(self, index: int) -> Instance:  # type: ignore[override]
        return scenario(list(SCENARIOS)[index], self.draft, self.vocab)


def scenario(name: str, draft: Scheme, vocab: int = 2) -> Instance:
    """One named scenario on a draft.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> scenario("toy", Chain(2)).target[(0, 1)]
    (1/3, 2/3)
    """
    if vocab < 2:
        raise BadInput(f"scenarios need a vocabulary of at least 2, not {vocab}")
    p, q = SCENARIOS[name]
    label = f"{name}, {draft.label} depth {draft.depth} V={vocab}"
    return tabulate(vocab, draft, lambda prefix: p(vocab, prefix), lambda prefix: q(vocab, prefix), label)
