"""Pooled rows keep the law over calls; broken versions do not."""

import inspect
from dataclasses import replace

import pytest

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.decode import decode
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import exact
from studies import pooled_rows

TOY = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))


def edited(module, name, old, new):
    """The function or class of a module after replacing a piece of its source."""
    source = inspect.getsource(getattr(module, name))
    assert source.count(old) == 1
    namespace = dict(vars(module))
    exec(source.replace(old, new), namespace)
    return namespace[name]


def test_pooled_rows_gain_on_the_toy():
    """Block verification accepts 2/3 in every call, shaped block verification 2/3, 7/9 and 20/27."""
    found = decode(TOY, pooled_rows.rule(TOY), 3)
    assert found.accepted == (exact("2/3"), exact("22/27"), exact("686/891"))


@pytest.mark.slow
def test_pooled_rows_keep_the_law():
    found = [pooled_rows.keeps_the_law(case) for case in pooled_rows.cases()]
    assert (len(found), all(found)) == (190, True)


def test_pooled_rows_at_three_tokens():
    assert all(pooled_rows.keeps_the_law((3, each)) for each in Randoms(Chain(2), 3, 6))


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
    monkeypatch.setattr(pooled_rows, "Pooled", edited(pooled_rows, "Pooled", *POOLED[fault]))
    assert not all(pooled_rows.keeps_the_law(case) for case in pooled_rows.cases())


def test_pooled_rows_need_their_state_and_one_length(monkeypatch):
    right = pooled_rows.rule
    monkeypatch.setattr(pooled_rows, "rule", lambda instance: replace(right(instance), carry=None))
    assert not pooled_rows.keeps_the_law((3, TOY))

    def other_length(instance):
        return right(replace(instance, draft=Chain(2)))

    monkeypatch.setattr(pooled_rows, "rule", other_length)
    assert not pooled_rows.keeps_the_law((3, TOY))
