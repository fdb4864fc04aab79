"""The project's own verifiers as foreign functions: in floats, their choices made by an rng."""

from draftproof.simulators.audit.targets.trees import Tree
from tests.problems import in_floats


class Chooser:
    """The oracle over a numpy-like generator."""

    def __init__(self, rng):
        self.rng = rng

    def choose(self, row):
        mass = sum(row)
        return int(self.rng.choice(len(row), p=[x / mass for x in row]))

    def accept(self, probability):
        return bool(self.rng.random() < probability)


class Own(Tree):
    """A verifier of theory/verifiers behind the door for foreign ones, on one instance.

    The state of a verifier that carries a modified target is kept between rounds.
    """

    def __init__(self, verifier, instance):
        super().__init__(self.run, name=verifier.name)
        self.verifier, self.proposal = verifier, in_floats(instance.proposal)
        self.carried = None

    def reset(self):
        self.carried = None

    def run(self, target, draft, rng):
        """Verifies, emits, and keeps the target of the next round."""
        target = self.carried or target
        oracle = Chooser(rng)
        node, row = self.verifier.verify(oracle, draft, target)
        if self.verifier.carry is not None:
            self.carried = self.verifier.carry(target, self.proposal, draft, node)
        return (*node.prefix[len(draft.root.prefix) :], oracle.choose(row))
