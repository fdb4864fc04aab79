"""What the every-size prover takes for known about numbers is known."""

from dataclasses import replace

from flint import Ordering, fmpq_mpoly_ctx

from draftproof.proofs_check.cells.solver import Solver
from draftproof.proofs_check.cells.symbol import NEGATIVE, POSITIVE, ZERO
from draftproof.proofs_check.every_size.prover import prove_every_size
from draftproof.theory.rows import excess, normalise, one, share
from draftproof.theory.verifiers import token


def verify(oracle, draft, target):
    return walk(oracle, draft.root, one(target[draft.root.prefix]), target)


def walk(oracle, v, w, target):
    p, q = target[v.prefix], v.proposal
    if not v.children:
        return v, p
    child = v.children[0]
    if oracle.accept(share(p[child.token], q[child.token])):
        return walk(oracle, child, w + 1, target)
    return v, q if w > 1 else normalise(excess(p, q))


def test_a_number_that_outgrows_1_is_not_taken_to_be_at_most_1():
    assert prove_every_size(replace(token.VERIFIER, verify=verify, lossless=False)).verdict == "undecided"


def test_a_sum_of_facts_shows_that_no_numbers_have_the_signs():
    x, y = fmpq_mpoly_ctx.get(["x", "y"], Ordering.degrevlex).gens()
    solver = Solver()
    forms = x * y - x, x * y - y, 2 * x * y - x - y
    difference, other, both = (solver.canonical(form)[0] for form in forms)
    facts = [(difference, ZERO | POSITIVE), (other, ZERO | POSITIVE)]
    assert solver.empty_by_sums([*facts, (both, NEGATIVE)])
    assert not solver.empty_by_sums([*facts, (both, POSITIVE)])
    assert not solver.empty_by_sums(facts)
