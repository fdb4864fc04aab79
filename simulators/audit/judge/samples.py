"""An anytime-valid test on the joint law of several tokens, for targets that cannot be enumerated."""

from time import monotonic

from numpy.random import PCG64, Generator  # here, since the audit replaces numpy's names

from draftproof.simulators.audit.coins.sources import Chance
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets.base import Target
from draftproof.simulators.support.anytime import Process
from draftproof.theory.instance import Instance
from draftproof.theory.law import law_of
from draftproof.theory.shared.reportable import spelled

TEST_RUNS, TEST_SECONDS = 20_000, 60.0  # default limits: number of runs, and seconds


class Sampled(Process):
    """A test on random runs, whose results depend on how far it has come.

    `total_variation` is that of the counts, which by chance exceeds that of the law; `detectable` is the
    total variation that this number of runs would have revealed. `likeliest` is the outcome that most
    exceeded its probability: (outcome, its fraction of the runs, its probability).
    """

    def __init__(self, on: str, outcomes: int, error: float):
        super().__init__(outcomes, error)
        self.on = on
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
        outcome, fraction, probability = self.likeliest
        often = f"\n  tokens {spelled(outcome)!r} came in {fraction:.4g} of the runs, and should in "
        return (
            f"{'rejected' if self.rejected else 'not rejected'} after {self.runs:,} runs "
            f"at error level {self.error:.3g} (log e-value {self.most:.1f}, "
            f"{self.words:,} outcomes, {self.on}); "
            f"a total variation of {self.detectable:.2g} would have shown"
            f"{f'{often}{probability:.4g}' if self.rejected and outcome else ''}"
        )


def sampled(
    target: Target, sandbox: Sandbox, instance: Instance, runs: int, error: float, seconds: float
) -> Sampled:
    """Runs a target on an instance at random until the test rejects, the runs are done, or the time is up.

    Its output is continued by the target's own law to depth + 1 tokens. A result that is not tokens has
    probability zero under the law, and so rejects; a call that raises is no law, and ends the test. Raises
    Fault if a call hangs.
    """
    chance, deadline = Chance(Generator(PCG64(0))), monotonic() + seconds
    length = instance.draft.depth + 1
    law = law_of(instance.target, length)
    test = Sampled(instance.name, len(law), error)
    while test.runs < runs and not test.rejected and monotonic() < deadline:
        sandbox.current.source = None  # a new run
        try:
            word = target.sample(sandbox, chance, instance)
        except Fault as fault:
            if fault.kind == "hangs":
                raise
            test.faults[fault.kind] = f"{fault.what}, on {instance.name}"
            if fault.kind == "raises":
                break
            test.update(fault.kind, 0.0)
            continue
        word = word[:length]
        while len(word) < length:
            word = (*word, chance.choose(instance.target[word]))
        test.wanted[word] = float(law[word])
        test.update(word, test.wanted[word])
    return test
