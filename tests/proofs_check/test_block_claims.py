"""Block verification in other forms: Appendix A's sketch; broken versions are refused."""

import inspect
from dataclasses import replace

import pytest

from draftproof.proofs_check.claims import chains
from draftproof.proofs_check.claims.claim import SIZES
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import context_free
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
