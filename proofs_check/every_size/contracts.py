"""The code that a proof does not run as it stands: it proves nothing once that code has changed.

Of most verifiers a theorem in Rocq is proved, about their own code as a program translated it. That is the
proof, as long as the code is the same; its tests translate and compile it anew.

Of other verifiers a proof runs the source. A function with a contract is not run: of it a stated property is
assumed. The rest of what the verifier calls is modelled on classes of tokens: the operations of
theory/rows.py (`objects`), how drafts are drawn (`state`) and how an oracle answers; a table's lookup and
the cache of exact rows are assumed to return the right row and the right result. Contracts and models were
compared with the code on exact instances (`test_contracts.py` and `test_model.py` in
tests/proofs_check/every_size); the hashes tie them to the code that was compared.
"""

import ast
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from types import ModuleType
from typing import Any

from draftproof.proofs_check.cells.symbol import POSITIVE, ZERO, Symbol
from draftproof.proofs_check.every_size.machine.flow import NotFollowed
from draftproof.proofs_check.every_size.machine.space import PART, UNIT
from draftproof.proofs_check.every_size.machine.values import Count, Plan, Row
from draftproof.simulators.laws import enumerate as enumerator
from draftproof.theory import draft, oracle, rows, table, verifier
from draftproof.theory.drafts import chain, greedy, paths, shape, stratified, tree
from draftproof.theory.shared import memo, strata
from draftproof.theory.transport import flow, level, siblings
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import (
    block,
    greedy_block,
    hsd,
    hsd_naive,
    hu_greedy,
    k_seq,
    layered,
    lifted,
    naive_tree,
    nss,
    one_hot,
    rrs,
    specinfer,
    token,
    traversal,
)
from draftproof.theory.verifiers.shared import modified_target, optimal, priority

Contract = Callable[..., Any]

INDEPENDENT = {"chain", "tree with replacement", "stratified", "greedy"}
"""Drafts whose siblings are drawn independently."""


def geometric(run: Any, b: Symbol, k: Count) -> Symbol:
    """1 + (1 - b) + .. + (1 - b)^(k-1), k the number of children."""
    _require(isinstance(b, Symbol) and isinstance(k, Count) and k.offset == 0, "geometric")
    early, late = run.powers(b)
    return early + late


def smallest_rho(run: Any, p: Row, q: Row, k: Count, steps: int = 0) -> Symbol:
    """Some rho >= 1 with geometric(sum min(p / rho, q), k) <= rho."""
    _require(isinstance(p, Row) and isinstance(q, Row) and isinstance(k, Count), "smallest_rho")
    inverse = run.fresh(UNIT, "1 / rho", p, q)
    run.space.assume(inverse, POSITIVE)
    b: Any = rows.total(run.operation(rows.meet, [run.operation(rows.scale, [inverse, p]), q]))
    run.space.assume(1 - geometric(run, b, k) * inverse, ZERO | POSITIVE)
    rho = 1 / inverse
    run.bounds[id(rho)] = (rho, False)
    return rho


def priority_plan(run: Any, draft: Any, node: Any, row: Row) -> Plan:
    """Children are judged in some order, each kept with its rate; or each has its share of being the one that
    is kept, none below 0 and together at most 1. On average over the draws no token is kept more than the row
    has of it.
    """
    _require(INDEPENDENT.issuperset(run.hypotheses.verifier.drafts), "planned")
    return node_plan(run, draft, node, row)


def node_plan(run: Any, draft: Any, node: Any, row: Row) -> Plan:
    """Each child has its share of being the one that is kept, none below 0 and together at most 1. On average
    over the draws no token is kept more than the row has of it.
    """
    _require(node is run.here and isinstance(row, Row), "planned")
    rest = run.fresh(PART, "rest", row)
    taken = Row(a - b for a, b in zip(row, rest, strict=True))
    for entry in taken:
        run.space.assume(entry, ZERO | POSITIVE)
    taken.positive = True
    run.space.assume(1 - rows.total(taken), ZERO | POSITIVE)
    return Plan(taken, rest)


def planned(run: Any, value: Plan, method: str, arguments: list) -> Plan:
    """The methods of a plan: what it gives to the children that were drawn."""
    if arguments != [run.here] or method not in ("shares", "judged"):
        raise NotFollowed(f"Plan.{method}")
    return replace(value, form=method)


def _require(holds: bool, name: str) -> None:
    if not holds:
        raise NotFollowed(f"{name} is called in a way that its contract does not cover")


CONTRACTS: dict[Callable, tuple[tuple[ModuleType, ...], str, Contract]] = {
    k_seq.geometric: ((k_seq,), "c546ad98d4277dcb", geometric),
    k_seq.smallest_rho: ((k_seq,), "c546ad98d4277dcb", smallest_rho),
    lifted.planned: ((lifted, layered, level, flow, siblings), "1a1daae1101f7ce0", node_plan),
    priority.planned: ((priority, draft), "cc0c9709220123cb", priority_plan),
    **dict.fromkeys(
        (optimal.planned, optimal.planned_in_lift),
        ((optimal, priority, draft, level, siblings), "344b20ded5f9ad65", priority_plan),
    ),
}
"""Function -> (the modules that it runs, the hash of their code that the contract was tested for, the
contract).
"""


THEOREMS: dict[Callable, tuple[str, str, tuple[ModuleType, ...]]] = {
    token.verify: ("token_code_lossless", "ee2c4353b9573e2d", (token,)),
    block.verify: ("block_code_lossless", "4fc2dc4edde77c39", (block,)),
    hsd.verify: ("hsd_code_lossless", "5b99bfb3adb7504e", (hsd,)),
    greedy_block.verify: ("greedy_code_lossless", "d58177579e2aed00", (greedy_block, modified_target)),
    hsd_naive.verify: ("hsd_naive_code_lossless", "fa29b56b77925229", (hsd_naive, hsd, modified_target)),
    specinfer.verify: ("specinfer_code_lossless", "4e4d92bd51bdcdc8", (specinfer,)),
    rrs.verify: ("rrs_code_lossless", "4130d54d19c7b9be", (rrs,)),
    traversal.verify: ("traversal_code_lossless", "2c9e5266dde56ee7", (traversal,)),
    naive_tree.verify: ("naive_tree_code_lossless", "b73310852b550730", (naive_tree,)),
    nss.verify: ("nss_code_lossless", "36cf6370d0696688", (nss,)),
    one_hot.verify: ("one_hot_code_lossless", "0fa2ab7e69793341", (one_hot,)),
    hu_greedy.verify: ("hu_greedy_code_lossless", "25b09021bee80f81", (hu_greedy,)),
}
"""A verifier's function -> its theorem in proofs_check/rocq; the hash of the code that it is about; the
modules of the verifier with its declarations, and of what it calls. The priority rule's theorem is about
drafts with replacement alone.
"""


def theorem_of(rule: Verifier) -> str:
    """The theorem about a verifier, "" if there is none. Raises NotFollowed where its code has changed."""
    if not inspect.isfunction(rule.verify) or rule.verify not in THEOREMS:
        return ""
    theorem, known, modules = THEOREMS[rule.verify]
    if vars(modules[0])["VERIFIER"] != rule:
        return ""
    if digest(*modules) != known:
        raise NotFollowed(f"{rule.name} has changed since {theorem} was proved in Rocq")
    return theorem


def contract_of(run: Any, function: Any) -> Contract | None:
    """The contract of a function, None if it has none. Raises NotFollowed where its code has changed."""
    try:
        found = CONTRACTS.get(function)
    except TypeError:
        return None
    if found is None:
        return None
    modules, known, contract = found
    if digest(*modules) != known:
        raise NotFollowed(f"{function.__name__} has changed since its contract was tested")
    said = f"{function.__name__}: {' '.join((contract.__doc__ or '').split())}"
    if said not in run.hypotheses.contracts:
        run.hypotheses.contracts.append(said)
    return contract


@lru_cache(64)
def digest(*modules: ModuleType) -> str:
    """A hash of the modules' code, without docstrings, comments and layout."""
    parts = []
    for module in modules:
        tree = ast.parse(inspect.getsource(module))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
                node.body = [
                    each
                    for each in node.body
                    if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
                ] or [ast.Pass()]
        parts.append(ast.dump(tree))
    return sha256("".join(parts).encode()).hexdigest()[:16]


MODELLED: dict[ModuleType, str] = {
    rows: "8a8c86a7d82158e3",
    table: "3a553c27151f865f",
    memo: "bafe50ceffbd2ff9",
    oracle: "c1d0b6ba4785b385",
    draft: "e2610e8cd33f2349",
    chain: "49ba2592a41f0374",
    tree: "8d52485591805292",
    greedy: "74d860f69817e9c0",
    paths: "b1e734c37e379f2f",
    shape: "84c3156e86596c3d",
    stratified: "2e84224d9317def9",
    strata: "628f3849eee42bce",
    verifier: "b5a76c942fe16b6c",
    enumerator: "042f234ac5bc2bd8",
}
"""Module -> the hash of the code that the models were compared with."""


def must_be_modelled() -> None:
    """Raises NotFollowed if code that proofs rely on has changed since its model was compared with it."""
    for module, known in MODELLED.items():
        if digest(module) != known:
            raise NotFollowed(f"{module.__name__} has changed since the proofs' model of it was tested")
