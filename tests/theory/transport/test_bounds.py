"""Rules written out are valid exactly, word by word, and as good as the certified interval says."""

import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.optimum import drafted, stateless
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.law import Law, law_of
from draftproof.theory.transport.bounds import Program, solve, valid_rule


def expected_accepted(rule) -> fmpq:
    return sum((mass * o.accepted for masses in rule.values() for o, mass in masses.items()), fmpq(0))


@pytest.mark.parametrize(
    "draft", [Chain(2), Tree(((), ()), True), Tree((((), ()), ())), Tree((((), ()), ((), ()))), Paths(2, 2)]
)
def test_valid_and_optimal(draft: Scheme) -> None:
    for instance in Randoms(draft, 3, 6, seed=16):
        found = stateless(instance)
        rule = found.rule
        assert expected_accepted(rule) == found.lower
        assert valid(rule, instance.target, draft.depth)
        law = drafted(instance)
        assert {seen: sum(masses.values(), fmpq(0)) for seen, masses in rule.items()} == law
        for prefixes, masses in rule.items():
            assert all(mass > 0 for mass in masses.values())
            assert all(output.end in prefixes or output.end[:-1] in prefixes for output in masses)
            assert all(output.end[: output.accepted] in prefixes for output in masses)
        assert expected_accepted(rule) <= found.upper
        assert float(found.upper - expected_accepted(rule)) < 1e-9


def test_a_spoiled_float_solution_still_gives_a_valid_rule() -> None:
    instance = Randoms(Tree((((), ()), ())), 3, 6, seed=17)[1]
    program = Program(instance.target, drafted(instance))
    _, f, _ = solve(program)
    spoiled = {seen: 0.9 * masses + 0.01 for seen, masses in f.items()}
    assert valid(valid_rule(program, spoiled), instance.target, 2)
    nothing = {seen: 0.0 * masses for seen, masses in f.items()}
    assert valid(valid_rule(program, nothing), instance.target, 2)


def valid(rule, target, depth: int) -> bool:
    out = Law((output.end, mass) for masses in rule.values() for output, mass in masses.items())
    return out.complete(target, depth + 1) == law_of(target, depth + 1)
