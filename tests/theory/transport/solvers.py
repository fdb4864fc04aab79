"""HiGHS on the linear programs themselves: slower than what the package does, and independent of it."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, kron, vstack

from draftproof.theory.rows import Row
from draftproof.theory.transport.certificate import Solved, Transport
from draftproof.theory.transport.siblings import SetLaw


def highs(problem: Transport) -> Solved:
    """HiGHS' simplex on the sparse linear program of a transport problem (huangfu2018parallelizing)."""
    a, b = problem.float_masses()
    m, n = problem.reward.shape
    rows = vstack([kron(eye_array(m), np.ones((1, n))), kron(np.ones((1, m)), eye_array(n))], format="csr")
    found = linprog(
        -problem.reward.ravel().astype(float), A_eq=rows, b_eq=np.concatenate([a, b]), method="highs-ds"
    )
    assert found.x is not None, found.message
    return found.x.reshape(m, n), -found.eqlin.marginals[m:]


def value(problem: Transport, solved: Solved) -> float:
    """What a float plan is worth."""
    plan, _ = solved
    return float((plan * problem.reward).sum())


def linear_program(p: Row, draws: SetLaw) -> float:
    """alpha* of a single step, with a variable for every token of every drawn set."""
    edges = [(n, len(draws) + x) for n, t in enumerate(draws) for x in sorted(t)]
    at = np.array(edges).ravel()
    columns = np.repeat(np.arange(len(edges)), 2)
    rows = csr_array((np.ones(len(at)), (at, columns)), shape=(len(draws) + len(p), len(edges)))
    most = np.array([*map(float, draws.values()), *map(float, p)])
    found = linprog(-np.ones(len(edges)), A_ub=rows, b_ub=most, method="highs")
    assert found.x is not None, found.message
    return -float(found.fun)
