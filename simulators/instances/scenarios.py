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

WEIGHTS: dict[str, Callable[[int, int, Prefix, int], int]] = {
    "uniform": lambda x, V, prefix, k: 1,
    "toy": lambda x, V, prefix, k: V if x == V - 1 else 1,
    "one-hot": lambda x, V, prefix, k: x == (len(prefix) + k) % V,
    "half": lambda x, V, prefix, k: 1 + x if x % 2 == k else 0,
    "holes": lambda x, V, prefix, k: 0 if x == (k + sum(prefix)) % V else 1 + (x + k) % 3,
    "peaked": lambda x, V, prefix, k: 10**6 if x == sum(prefix) % V else 1,
    # the ratio p/q of token 0 is alternately large and small with depth, so prefix ratios rise and fall
    "seesaw": lambda x, V, prefix, k: 4 if x else 9 if (len(prefix) + k) % 2 else 1,
}
"""Name -> the weight of token x in the row after a prefix, in variants k."""


def _rule(name: str, k: int = 0) -> Rule:
    weight = WEIGHTS[name]
    return lambda vocab, prefix: weighted([weight(x, vocab, prefix, k) for x in range(vocab)])


def _skewed(vocab: int, prefix: Prefix) -> Row:
    # A different row after every context: weights increase from a token that depends on the context.
    start = (len(prefix) + sum((i + 2) * x for i, x in enumerate(prefix))) % vocab
    return weighted([1 + (x - start) % vocab for x in range(vocab)])


def _reversed(rule: Rule) -> Rule:
    return lambda vocab, prefix: rule(vocab, prefix)[::-1]


def _near(vocab: int, prefix: Prefix) -> Row:
    nudge = fmpq(1, 10**12)
    row = list(_skewed(vocab, prefix))
    row[0], row[-1] = row[0] + nudge, row[-1] - nudge
    return tuple(row)


UNIFORM, TOY = _rule("uniform"), _rule("toy")

SCENARIOS: dict[str, tuple[Rule, Rule]] = {
    "toy": (TOY, _reversed(TOY)),
    "equal": (_skewed, _skewed),
    "reversed": (_skewed, _reversed(_skewed)),
    "uniform proposal": (_skewed, UNIFORM),
    "uniform target": (UNIFORM, _skewed),
    "near tie": (_skewed, _near),
    "disjoint supports": (_rule("half", 0), _rule("half", 1)),
    "holes in the proposal": (_skewed, _rule("holes", 0)),
    "holes in the target": (_rule("holes", 1), _skewed),
    "holes in both": (_rule("holes", 0), _rule("holes", 1)),
    "one-hot target": (_rule("one-hot", 0), _skewed),
    "one-hot proposal": (_skewed, _rule("one-hot", 1)),
    "one-hot both, equal": (_rule("one-hot", 0), _rule("one-hot", 0)),
    "one-hot both, apart": (_rule("one-hot", 0), _rule("one-hot", 1)),
    "peaked target": (_rule("peaked"), UNIFORM),
    "peaked proposal": (UNIFORM, _rule("peaked")),
    "seesaw": (_rule("seesaw", 0), _rule("seesaw", 1)),
    "seesaw, falling first": (_rule("seesaw", 1), _rule("seesaw", 0)),
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
