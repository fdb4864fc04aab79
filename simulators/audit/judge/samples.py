"""An anytime-valid test on the joint law of several tokens, for targets that cannot be enumerated.

The test runs on all words of a small instance, or on classes of tokens over a vocabulary of any size.
"""

from time import monotonic
from typing import Any

import numpy as np
from flint import fmpq
from numpy.random import PCG64, Generator  # here, since the audit replaces numpy's names

from draftproof.simulators.audit.coins.sources import Chance
from draftproof.simulators.audit.judge.exact import optimum
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets.base import Target
from draftproof.simulators.support.anytime import ERROR, Process
from draftproof.theory.draft import Draft, chained
from draftproof.theory.instance import Instance
from draftproof.theory.law import law_of
from draftproof.theory.rows import Prefix

TEST_RUNS, TEST_SECONDS = 20_000, 60.0  # default limits: number of runs, and seconds
CLASS_WORDS = 100  # most words of classes; more need more runs for the same total variation


class SmallInstance:
    """Test input from a small instance; outcomes are words of depth + 1 tokens."""

    tokens = True  # outcomes are words of tokens, not of classes

    def __init__(self, instance: Instance):
        self.instance, self.name, self.depth = instance, instance.name, instance.draft.depth
        self.target: Any = instance.target
        self.optimum = optimum(instance)
        self.law = law_of(instance.target, self.depth + 1)
        self.outcomes = len(self.law)

    def draw(self, chance: Chance) -> Draft:
        """A random draft."""
        return self.instance.draft.draw(chance, self.instance.proposal)

    def next(self, chance: Chance, prefix: Prefix) -> int:
        """The target's own next token."""
        return chance.choose(self.target[prefix])

    def outcome(self, word: Prefix) -> tuple[tuple[int, ...], float]:
        """The outcome that a word counts as in the test, and its probability under the target's law."""
        return word, float(self.law[word])


class LargeVocabulary:
    """Test input from chains over V tokens; outcomes are the classes of depth + 1 tokens, whose law is exact.

    After every context the tokens, sorted by decreasing p/q, are divided into C classes of about equal target
    mass: most faults of a verifier move mass along that order. The class of a token selects the next row, so
    that mixed-up rows are detected too. Rows are float64: `target` [depth + 1, C, V], `proposal` [depth, C,
    V].
    """

    tokens = False
    optimum = None  # unknown

    def __init__(self, target: np.ndarray, proposal: np.ndarray, name: str):
        self.p, self.q, self.name = target, proposal, name
        self.depth, self.count, self.vocab = proposal.shape[0], target.shape[1], target.shape[2]
        self.outcomes = self.count ** (self.depth + 1)
        self.target: Any = self
        self.kinds = np.stack([_classes(p, q) for p, q in zip(target, [*proposal, None], strict=True)])
        self.classes = [
            [np.bincount(kinds, row, self.count).tolist() for kinds, row in zip(*at, strict=True)]
            for at in zip(self.kinds, target, strict=True)
        ]
        self._p, self._q = np.cumsum(target, axis=2), np.cumsum(proposal, axis=2)

    @classmethod
    def peaked(cls, vocab: int, depth: int, seed: int = 0) -> "LargeVocabulary":
        """Random target rows that fall like rank^-1.5, and proposals close to them."""
        from scipy.special import softmax

        rng, count = np.random.default_rng(seed), classes(vocab, depth)
        ranks = rng.permuted(np.tile(np.arange(1.0, vocab + 1), (depth + 1, count, 1)), axis=2)
        logits = -1.5 * np.log(ranks)
        near = logits[:-1] + rng.normal(size=logits[:-1].shape)
        rows = softmax(logits, axis=-1), softmax(near, axis=-1)
        return cls(*rows, f"random peaked rows, V={vocab:,} depth {depth}")

    def __getitem__(self, prefix: Prefix) -> Any:
        return self.p[len(prefix), self._after(prefix)]

    def draw(self, chance: Chance) -> Draft:
        leaf, rows = (), []
        for at in range(self.depth):
            after = self._after(leaf)
            rows.append(self.q[at, after])
            leaf = (*leaf, _drawn(self._q[at, after], chance))
        return Draft(chained(leaf, rows))

    def next(self, chance: Chance, prefix: Prefix) -> int:
        return _drawn(self._p[len(prefix), self._after(prefix)], chance)

    def outcome(self, word: Prefix) -> tuple[tuple[int, ...], float]:
        """The classes of a word's tokens, and their joint probability; 0 for an impossible word."""
        found, probability = [0], 1.0
        for at, token in enumerate(word):
            after = found[-1]
            found.append(int(self.kinds[at, after, token]))
            probability *= self.classes[at][after][found[-1]] if self.p[at, after, token] > 0 else 0.0
        return tuple(found[1:]), probability

    def _after(self, prefix: Prefix) -> int:
        after = 0
        for at, token in enumerate(prefix):
            after = int(self.kinds[at, after, token])
        return after


def classes(vocab: int, depth: int) -> int:
    """The number of classes of a position, at least 2."""
    count = 2
    while count < vocab and (count + 1) ** (depth + 1) <= CLASS_WORDS:
        count += 1
    return count


def _classes(p: np.ndarray, q: np.ndarray | None) -> np.ndarray:
    # [C, V]: each row's tokens in order of decreasing p/q (or p), cut where the target mass passes k/C.
    ratio = p if q is None else np.divide(p, q, out=np.full_like(p, np.inf), where=q > 0)
    order = np.argsort(-ratio, axis=1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=1)
    middle = np.cumsum(ordered, axis=1) - ordered / 2
    kinds = np.empty(p.shape, dtype=np.int64)
    np.put_along_axis(kinds, order, np.minimum((middle * len(p)).astype(np.int64), len(p) - 1), axis=1)
    return kinds


def _drawn(cumulative: np.ndarray, chance: Chance) -> int:
    at = int(np.searchsorted(cumulative, chance.rng.random() * cumulative[-1], side="right"))
    return min(at, len(cumulative) - 1)


class Sampled(Process):
    """A test on random runs, whose results depend on how far it has come.

    `total_variation` is that of the counts, which by chance exceeds that of the law; `detectable` is the
    total variation that this number of runs would have revealed. `likeliest` is the outcome that most
    exceeded its probability: (outcome, its fraction of the runs, its probability).
    """

    def __init__(self, population: SmallInstance | LargeVocabulary, error: float):
        super().__init__(population.outcomes, error)
        self.on, self.tokens = population.name, population.tokens
        self.optimum: fmpq | None = None
        self.expected_accepted: float | None = None
        self.faults: dict[str, str] = {}
        self.wanted: dict[tuple[int, ...], float] = {}  # outcome -> its probability

    @property
    def excess(self) -> dict[tuple[int, ...], float]:
        """Outcome -> its fraction of the runs, less its probability."""
        n = max(self.runs, 1)
        return {outcome: self.counts[outcome] / n - mass for outcome, mass in self.wanted.items()}

    @property
    def total_variation(self) -> float:
        return 1.0 if self.faults else sum(max(each, 0.0) for each in self.excess.values())

    @property
    def likeliest(self) -> tuple[tuple[int, ...], float, float]:
        excess = self.excess
        worst = max(excess, key=excess.__getitem__, default=())
        return worst, self.counts[worst] / max(self.runs, 1), self.wanted.get(worst, 0.0)

    def __str__(self) -> str:
        return (
            f"{'rejected' if self.rejected else 'not rejected'} after {self.runs:,} runs "
            f"at error level {self.error:.3g} (log e-value {self.most:.1f}, "
            f"{self.words:,} outcomes, {self.on}); "
            f"a total variation of {self.detectable:.2g} would have shown"
        )


def sampled(
    target: Target,
    sandbox: Sandbox,
    population: SmallInstance | LargeVocabulary,
    runs: int = TEST_RUNS,
    error: float = ERROR,
    seconds: float = TEST_SECONDS,
    native: bool = False,
) -> Sampled:
    """Runs a target at random until the test rejects, the runs are done, or the time is up.

    Its output is continued by the target's own law to depth + 1 tokens. A result that is not tokens has
    probability zero under the law, and so rejects; a call that raises is no law, and ends the test. With
    `native` the target gets real generators. Raises Fault if a call hangs.
    """
    chance, deadline = Chance(Generator(PCG64(0)), native), monotonic() + seconds
    test, accepted = Sampled(population, error), 0
    while test.runs < runs and not test.rejected and monotonic() < deadline:
        sandbox.current.source = None  # a new run
        try:
            word = target.sample(sandbox, chance, population)
        except Fault as fault:
            if fault.kind == "hangs":
                raise
            test.faults[fault.kind] = f"{fault.what}, on {population.name}"
            if fault.kind == "raises":
                break
            test.update(fault.kind, 0.0)
            continue
        accepted += len(word) - 1
        word = word[: population.depth + 1]
        while len(word) <= population.depth:
            word = (*word, population.next(chance, word))
        outcome, test.wanted[outcome] = population.outcome(word)
        test.update(outcome, test.wanted[outcome])
    if not target.whole:
        test.expected_accepted, test.optimum = accepted / max(test.runs, 1), population.optimum
    return test
