"""A second reading by Storm, a model checker of others: a Markov chain of all that is drawn reaches each word
with the target's probability.

It needs the Python of an environment with stormpy, in STORM_PYTHON or the one that runs; else it skips:

    python3 -m venv storm && storm/bin/pip install stormpy
    STORM_PYTHON=$PWD/storm/bin/python python -m pytest tests/proofs_check/test_storm.py
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest
from flint import fmpq

from draftproof.proofs_check.cells.cell import Cut, sides
from draftproof.proofs_check.cells.domain import Domain
from draftproof.proofs_check.cells.symbol import ZERO
from draftproof.proofs_check.claims import CLAIMS
from draftproof.proofs_check.claims.checks import Lossless
from draftproof.proofs_check.claims.claim import SIZES
from draftproof.proofs_check.prove import aim
from draftproof.simulators.instances.suite import standard
from draftproof.simulators.laws.check import pieces
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain as Line
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.law import law_of
from draftproof.theory.numbers import text
from draftproof.theory.targets import ITSELF, declared
from draftproof.theory.verifiers import VERIFIERS, named

PYTHON = os.environ.get("STORM_PYTHON") or (sys.executable if find_spec("stormpy") else "")
SCRIPT = Path(__file__).parent / "storm_reads.py"
pytestmark = pytest.mark.skipif(not PYTHON, reason="no stormpy: STORM_PYTHON names the Python that has it")


class Branches:
    """The oracle that takes every branch in turn and keeps their tree, [[probability, what follows], ..] for
    a choice with several outcomes.
    """

    def __init__(self):
        self.at = 0
        self.open = []  # outcomes of a choice; those finished
        self.tree = None

    def choose(self, row):
        return self._taken([(x, mass) for x, mass in enumerate(row) if mass > 0])

    def accept(self, probability):
        both = (1, probability), (0, 1 - probability)
        return bool(self._taken([each for each in both if each[1] > 0]))

    def _taken(self, choice):
        if len(choice) == 1 and choice[0][1] == 1:
            return choice[0][0]
        if self.at == len(self.open):
            self.open.append((choice, []))
        branches, done = self.open[self.at]
        self.at += 1
        return branches[len(done)][0]

    def ended(self, end):
        """Puts what a run ended with into the tree; False if it was the last run."""
        self.at = 0
        while self.open:
            branches, done = self.open[-1]
            done.append([text(branches[len(done)][1]), end])
            if len(done) < len(branches):
                return True
            _, end = self.open.pop()
        self.tree = end
        return False


class Chain:
    """A Markov chain with one absorbing state a word; trees of branches are put into it."""

    def __init__(self, words):
        self.words = list(words)
        self.steps = [[("1", state)] for state in range(len(self.words))]

    def put(self, tree) -> int:
        """The state of a tree [[probability, tree], ..] whose leaves are words."""
        if isinstance(tree, tuple):
            return self.words.index(tree)
        steps = [(mass, self.put(below)) for mass, below in tree]
        self.steps.append(steps)
        return len(self.steps) - 1

    def reached(self, roots, folder, parameters=()):
        """Word -> the probability of reaching it from each of the roots, as Storm spells it."""
        labels = ["w" + "_".join(map(str, word)) for word in self.words]
        lines = ["@type: DTMC", "@parameters", " ".join(parameters), "@reward_models", ""]
        lines += ["@nr_states", str(len(self.steps)), "@nr_choices", str(len(self.steps)), "@model"]
        for state, steps in enumerate(self.steps):
            names = ["init"] * (state == roots[0]) + labels[state : state + 1]
            lines += [" ".join(["state", str(state), *names]), "\taction 0"]
            lines += [f"\t\t{to} : {mass}" for mass, to in sorted_together(steps)]
        (folder / "model.drn").write_text("\n".join(lines) + "\n")
        (folder / "asked.json").write_text(json.dumps([roots, labels]))
        numbers = "functions" if parameters else "exact"
        command = [PYTHON, SCRIPT, folder / "model.drn", folder / "asked.json", numbers]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(done.stdout)
        return {word: found[label] for word, label in zip(self.words, labels, strict=True)}


def sorted_together(steps):
    """The steps (probability, state) in the order of states; steps to the same state are added up."""
    together = {}
    for mass, to in steps:
        together[to] = [*together.get(to, []), mass]
    return [(added(together[to]), to) for to in sorted(together)]


def added(masses):
    """The sum of masses, each spelled as a rational or as a rational function."""
    if len(masses) == 1:
        return masses[0]
    if any("(" in mass for mass in masses):
        return "+".join(masses)
    return str(sum(map(fmpq_of, masses), fmpq(0)))


def fmpq_of(text):
    top, _, bottom = text.partition("/")
    return fmpq(int(top), int(bottom or 1))


def drawn(instance, verifier):
    """The tree of all that one iteration draws, then of the target: words of the draft's depth plus one."""
    oracle, more = Branches(), True
    while more:
        draft = instance.draft.draw(oracle, instance.proposal)
        node, row = verifier.verify(oracle, draft, instance.target)
        word = (*node.prefix, oracle.choose(row))
        while len(word) <= instance.draft.depth:
            word = (*word, oracle.choose(instance.target[word]))
        more = oracle.ended(word)
    return oracle.tree


def read_again(step, folder):
    """Every `step`-th instance of the standard suite with all verifiers that keep no state: the number of
    laws, which Storm finds as `check` does, and of those not lossless.
    """
    rules = [(verifier, None) for verifier in VERIFIERS.values() if verifier.carry is None]
    read, lossy, seen = 0, 0, 0
    for piece in pieces(standard(), rules):
        cases, roots, chain = [], [], None
        for index in piece.indices:
            seen += 1
            if seen % step:
                continue
            instance = piece.family[index]
            if chain is None:
                chain = Chain(product(range(instance.vocab), repeat=instance.draft.depth + 1))
            for verifier, _ in piece.pairs:
                cases.append((instance, verifier))
                roots.append(chain.put(drawn(instance, verifier)))
        if chain is None or not cases:
            continue
        found = chain.reached(roots, folder)
        for at, (instance, verifier) in enumerate(cases):
            want = law_of(instance.target, instance.draft.depth + 1)
            right = all(fmpq_of(values[at]) == want[word] for word, values in found.items())
            assert right == judge(instance, verifier).lossless, (instance, verifier.name)
            read, lossy = read + 1, lossy + (not right)
    return read, lossy


def test_storm_reads_some_exact_instances(tmp_path):
    read, lossy = read_again(300, tmp_path)
    assert read > 500
    assert lossy > 0


@pytest.mark.slow
def test_storm_reads_a_tenth_of_the_exact_instances(tmp_path):
    read, lossy = read_again(10, tmp_path)
    assert read > 20_000
    assert lossy > 100


# ----------------------------------------------------------------------
# Cells of signs: all real p and q of a size


class Functions(Branches):
    """Branches whose probabilities are rational functions on a cell, where all comparisons are decided."""

    def __init__(self, reduced):
        super().__init__()
        self.reduced = reduced

    def _taken(self, choice):
        return super()._taken([(x, Function(self.reduced(mass))) for x, mass in choice])


class Function:
    """A rational function of a proof, written for Storm's parser, to which -x^2 is (-x)^2."""

    def __init__(self, symbol):
        self.symbol = symbol

    def __eq__(self, other):
        return self.symbol == other

    def __str__(self):
        top, bottom = (str(part).replace("**", "^") for part in (self.symbol.top, self.symbol.bottom))
        return f"((0+{top})/(0+{bottom}))".replace("+-", "-")


def on_cell(domain, cell, verifier, scheme, law):
    """The tree of all that is drawn on a cell, completed by the law, up to words of the draft's depth;
    Cut where a comparison is not decided.
    """
    domain.enumeration.cell = cell
    oracle, more = Functions(lambda symbol: domain.enumeration.reduced(cell, symbol)), True
    following = aim(domain, law)
    while more:
        draft = scheme.draw(oracle, domain.proposal)
        word, row = (lambda node, row: (node.prefix, row))(*verifier.verify(oracle, draft, domain.target))
        while len(word) < scheme.depth:
            word = (*word, oracle.choose(row))
            row = following[word]
        more = oracle.ended(word)
    return oracle.tree


def of_law(domain, cell, depth, law):
    """The tree of the law's words on a cell."""
    domain.enumeration.cell = cell
    rows = aim(domain, law)
    oracle, more = Functions(lambda symbol: domain.enumeration.reduced(cell, symbol)), True
    while more:
        word = ()
        while len(word) < depth:
            word = (*word, oracle.choose(rows[word]))
        more = oracle.ended(word)
    return oracle.tree


def decided(domain, verifier, scheme, law):
    """The two trees of every cell in which all comparisons of all runs are decided, but for cells on curves:
    there functions are equal that differ elsewhere.
    """
    cells = [domain.whole]
    while cells:
        cell = cells.pop()
        try:
            trees = on_cell(domain, cell, verifier, scheme, law), of_law(domain, cell, scheme.depth, law)
            equations = (
                domain.enumeration.solver.polynomials[key] for key, is_ in cell.facts.items() if is_ == ZERO
            )
            if not any(map(cell.reduce, equations)):
                yield trees
        except Cut as cut:
            cells += [part for part in sides(cell, *cut.args) if part is not None]


PAIR = ((), ())
DEEP = [("token", 2, Line(2)), ("block", 2, Line(2)), ("hsd", 2, Line(2)), ("traversal", 2, Line(2))]
SMALL = [
    *((name, vocab, Line(depth)) for name in ("token", "block") for vocab, depth in ((2, 1), (3, 1))),
    *(pytest.param(*each, marks=pytest.mark.slow) for each in DEEP),
    *((name, 2, Tree(PAIR)) for name in ("rrs", "traversal", "naive-tree")),
    *((name, 2, Tree(PAIR, replacement=True)) for name in ("specinfer", "priority", "traversal")),
    ("one-hot", 2, TopK(PAIR)),
]
LOSSLESS = [
    claim.check for claim in CLAIMS.values() if isinstance(claim.check, Lossless) and claim.verdict == SIZES
]
CLAIMED = [(check, *case) for check in LOSSLESS for case in check.cases]
"""Every size of every claim that is proved by sign cells: its check, vocabulary and draft."""


def rule_of(check):
    return named(check.verifier) if check.law == ITSELF else check.law.rule


def cells_read_again(verifier, vocab, scheme, step, folder, law=ITSELF):
    """One cell of `step`: how many there are, and whether Storm finds each word's probability there to be
    the law's.
    """
    domain, chain, roots, seen = Domain(vocab, scheme.depth), None, [], 0
    for verified, wanted in decided(domain, verifier, scheme, law):
        if seen % step == 0:
            chain = chain or Chain(product(range(vocab), repeat=scheme.depth))
            roots += [chain.put(verified), chain.put(wanted)]
        seen += 1
    found = chain.reached(roots, folder, domain.number.variables.names())
    return seen, [difference in ("0", "(0)/(1)") for each in found.values() for difference in each]


@pytest.mark.parametrize(("name", "vocab", "scheme"), SMALL)
def test_storm_reads_a_tenth_of_the_cells(tmp_path, name, vocab, scheme):
    seen, right = cells_read_again(named(name), vocab, scheme, 10, tmp_path)
    assert len(right) == -(-seen // 10) * vocab**scheme.depth
    assert all(right)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "vocab", "scheme"), CLAIMED, ids=[f"{c.verifier}-{v}-{d}" for c, v, d in CLAIMED]
)
def test_storm_reads_a_tenth_of_the_cells_of_claims(tmp_path, check, vocab, scheme):
    seen, right = cells_read_again(rule_of(check), vocab, scheme, 10, tmp_path, check.law)
    assert len(right) == -(-seen // 10) * vocab**scheme.depth
    assert all(right)


@pytest.mark.slow
def test_storm_refutes_cells_of_a_lossy_verifier(tmp_path):
    _, right = cells_read_again(named("hsd-released"), 2, Line(2), 100, tmp_path)
    assert not all(right)
    assert any(right)


def test_storm_refutes_cells_of_another_law(tmp_path):
    """Token verification of a mixture's rows, beside the target's own law."""
    _, right = cells_read_again(declared("interpolation:1/4").rule, 2, Line(1), 1, tmp_path)
    assert not all(right)
    assert any(right)
