"""Shrunk counterexamples still fail, and are small."""

import pytest

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.laws.witness import rounded, shrink
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, exact
from draftproof.theory.verifiers import named
from tests.problems import SCHEMES


def failing(name: str, draft: Scheme, vocab: int) -> Instance:
    """A random instance on which a verifier is not lossless."""
    return next(each for each in Randoms(draft, vocab, 200) if judge(each, named(name)).wrong)


@pytest.mark.parametrize(
    ("name", "draft", "vocab", "smallest"),
    [
        ("hsd-released", Chain(3), 4, 2),
        ("hsd-multidraft-released", Paths(3, 2), 3, 2),
        ("specinfer", Tree(((), (), ())), 4, 3),  # at V = 2 a pair holds both tokens, and nothing goes wrong
        ("rrs", Tree((((), ()), ()), True), 3, 2),
        ("token", SCHEMES["top-k"], 3, 2),
    ],
)
def test_the_smallest_instance_still_fails(name, draft, vocab, smallest):
    big = failing(name, draft, vocab)
    small = shrink(big, lambda each: judge(each, named(name)).wrong is not None)
    verdict = judge(small, named(name))
    assert verdict.wrong is not None
    assert verdict.wrong.got != verdict.wrong.want
    assert small.draft.depth <= big.draft.depth
    assert small.vocab == smallest
    denominators = [x.q for table in (small.target, small.proposal) for _, row in table.given() for x in row]
    assert max(denominators) <= 4


def test_nothing_is_taken_from_an_instance_that_must_stay_whole():
    instance = Randoms(Chain(2), 3, 1)[0]
    assert shrink(instance, lambda each: each == instance) == instance


def test_it_stops_when_time_is_up():
    instance = failing("hsd-released", Chain(3), 3)
    assert shrink(instance, lambda each: True, seconds=0.0) == instance


@pytest.mark.parametrize("denominator", [1, 2, 3, 7])
def test_rounded_rows_are_laws_of_that_denominator(denominator):
    row = tuple(map(exact, ("1/7", "2/7", "0", "4/7")))
    near = rounded(row, denominator)
    assert sum(near) == ONE
    assert all(
        (x * denominator).q == 1 and abs(x - y) * denominator < 1 for x, y in zip(near, row, strict=True)
    )
