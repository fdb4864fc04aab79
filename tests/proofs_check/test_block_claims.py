"""Block verification in other forms: Appendix A's sketch, pooled rows; broken versions are refused."""

import inspect
from dataclasses import replace

import pytest

from draftproof.proofs_check.claims import CLAIMS, calls, chains
from draftproof.proofs_check.claims.claim import SIZES
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import exact
from draftproof.theory.verifiers import named

TOY = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))


def edited(module, name, old, new):
    """The function or class of a module after replacing a piece of its source."""
    source = inspect.getsource(getattr(module, name))
    assert source.count(old) == 1
    namespace = dict(vars(module))
    exec(source.replace(old, new), namespace)
    return namespace[name]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_sketch_has_the_law_of_block_verification(depth):
    for instance in Randoms(Chain(depth), 3, 8):
        ours, theirs = (emission(instance, rule) for rule in (chains.SKETCH, named("block")))
        assert ours.law() == theirs.law()
        assert ours.stopped == theirs.stopped


def test_one_drafted_token_of_the_sketch_by_cells():
    assert chains.same_stops(chains.SKETCH, 2, 1)() == SIZES


SKETCHES = {
    "the first token drawn ends the text": ("if total(row) > 0", "if stop is None and total(row) > 0"),
    "the residual is not scaled": ("excess(scale(w, p), q)", "excess(p, q)"),
    "no token always has mass 1": ("1 - w)", "1)"),
    "the ratio is not capped": ("share(w * p[x], q[x])", "w * p[x] / q[x]"),
    "the whole draft is kept with the last ratio": ("share(w * p[x], q[x])", "share(p[x], q[x])"),
}


@pytest.mark.parametrize("fault", SKETCHES)
def test_broken_sketches_are_refused(fault):
    verify = edited(chains, "sketched", *SKETCHES[fault])
    assert chains.same_stops(replace(chains.SKETCH, verify=verify), 2, 2)() != SIZES


def test_pooled_rows_gain_on_the_toy():
    """Block verification accepts 2/3 in every call, shaped block verification 2/3, 7/9 and 20/27."""
    found = decode(TOY, calls.rule(TOY), 3)
    assert found.accepted == (exact("2/3"), exact("22/27"), exact("686/891"))


def test_pooled_rows_at_three_tokens():
    assert all(calls.keeps_the_law((3, each)) for each in Randoms(Chain(2), 3, 6))


POOLED = {
    "the bonus row is p": ("return row, bonus,", "return row, p,"),
    "the first row is p": ("return row, bonus,", "return p, bonus,"),
    "the rows are turned": ("return row, bonus,", "return bonus, row,"),
    "a share is counted twice": ("whole / (starts + whole)", "whole / (starts + whole + whole)"),
    "only the last call counts": ("for a, w in calls[", "for a, w in calls[:0]["),
    "a call is not forgotten after its draft": ("[-self.gamma + 1 :]", "[-self.gamma :]"),
    "the first row does not judge": ("share(row[x], q_x)", "share(p_x, q_x)"),
}


@pytest.mark.parametrize("fault", POOLED)
def test_broken_pooled_rows_are_refused(fault, monkeypatch):
    monkeypatch.setattr(calls, "Pooled", edited(calls, "Pooled", *POOLED[fault]))
    assert CLAIMS["pooled-rows-lossless"].check() == "refuted"


def test_pooled_rows_need_their_state_and_one_length(monkeypatch):
    right = calls.rule
    monkeypatch.setattr(calls, "rule", lambda instance: replace(right(instance), carry=None))
    assert not calls.keeps_the_law((3, TOY))

    def other_length(instance):
        return right(replace(instance, draft=Chain(2)))

    monkeypatch.setattr(calls, "rule", other_length)
    assert not calls.keeps_the_law((3, TOY))
