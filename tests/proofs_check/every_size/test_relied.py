"""A verifier runs no code that its proof at every size has not read, and that is pinned to no hash."""

import inspect
import sys

import pytest

from draftproof.proofs_check.every_size import prove_every_size
from draftproof.proofs_check.every_size.contracts import CONTRACTS, MODELLED, THEOREMS
from draftproof.proofs_check.every_size.machine import flow
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.decode import decode
from draftproof.theory import draft, rows, table
from draftproof.theory.drafts import chain
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named, token

PAIR = ((), ())
SCHEMES = Chain(2), Tree(PAIR), Tree(PAIR, True), Paths(2, 2), Greedy(PAIR), Stratified(PAIR)
QUICK = (
    *("block", "greedy-block", "hsd", "hsd-naive", "hu-greedy", "k-seq", "lifted", "naive-tree", "nss"),
    *("one-hot", "optimal", "priority", "rrs", "specinfer", "token", "traversal"),
)
SLOW = "lifted-optimal", "lifted-priority"


def executed(verifier):
    """(module, function) of all code of `theory` that runs while exact laws are enumerated."""
    found = set()

    def called(frame, event, argument):
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("draftproof.theory"):
            found.add((module, frame.f_code.co_qualname))

    for scheme in SCHEMES:
        if scheme.label in verifier.drafts:
            for instance in Randoms(scheme, 3, 2):
                sys.setprofile(called)
                try:
                    decode(instance, verifier, 2 if verifier.carry else 1)
                finally:
                    sys.setprofile(None)
    return found


def read(verifier, monkeypatch):
    """The functions whose source the proof has read, and the modules that are pinned for it."""
    functions, source = set(), inspect.getsource

    def noted(what):
        if inspect.isfunction(what):
            functions.add((what.__module__, what.__qualname__))
        return source(what)

    flow.flow_of.cache_clear()
    monkeypatch.setattr(inspect, "getsource", noted)
    proof = prove_every_size(verifier)
    monkeypatch.undo()
    assert proof.verdict == "proved"
    said = {each.partition(":")[0] for each in proof.assumed}
    contracts = [
        modules
        for function, (modules, _, _) in CONTRACTS.items()
        if f"{function.__module__.rpartition('.')[2]}.{function.__name__}" in said
    ]
    contracts += [modules for theorem, _, modules in THEOREMS.values() if theorem == proof.theorem]
    return functions, {module.__name__ for modules in (MODELLED, *contracts) for module in modules}


def unread(verifier, monkeypatch):
    functions, pinned = read(verifier, monkeypatch)
    return {
        (module, name)
        for module, name in executed(verifier)
        if module not in pinned and (module, name.partition(".<locals>")[0]) not in functions
    }


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW)])
@pytest.mark.sampled(4)
def test_what_a_proved_verifier_runs_is_read_or_pinned(name, monkeypatch):
    assert not unread(named(name), monkeypatch)


@pytest.mark.parametrize("pin", [rows, table, draft, chain], ids=lambda each: each.__name__)
def test_a_missing_pin_is_seen(pin, monkeypatch):
    kept = {module: known for module, known in MODELLED.items() if module is not pin}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[__name__], "MODELLED", kept)
        assert {module for module, _ in unread(token.VERIFIER, monkeypatch)} == {pin.__name__}
