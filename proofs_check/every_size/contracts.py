"""The code that a proof does not run as it stands: it proves nothing once that code has changed.

Of most verifiers a theorem in Rocq is proved, about their own code as a program translated it. That is the
proof, as long as the code is the same; its tests translate and compile it anew.

Of other verifiers a proof runs the source. A function that makes a plan is not run: of the plan a stated
property is assumed. The rest of what the verifier calls is modelled on classes of tokens: the operations of
theory/rows.py (`objects`), how drafts are drawn (`state`) and how an oracle answers; a table's lookup and
the cache of exact rows are assumed to return the right row and the right result. Contracts and models were
compared with the code on exact instances (`test_contracts.py` and `test_model.py` in
tests/proofs_check/every_size); the hashes tie them to the code that was compared.
"""

import ast
import inspect
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from types import ModuleType
from typing import Any, get_args

from draftproof.proofs_check.cells.symbol import POSITIVE, ZERO
from draftproof.proofs_check.every_size.machine.flow import NotFollowed
from draftproof.proofs_check.every_size.machine.space import PART
from draftproof.proofs_check.every_size.machine.values import Named, Plan, Row
from draftproof.simulators.laws import enumerate as enumerator
from draftproof.theory import draft, oracle, rows, table, verifier
from draftproof.theory.drafts import chain, greedy, paths, shape, stratified, tree
from draftproof.theory.shared import memo, strata
from draftproof.theory.transport import flow, level, siblings
from draftproof.theory.verifier import CHAIN, PATHS, TREES, Verifier
from draftproof.theory.verifiers import (
    block,
    greedy_block,
    hsd,
    hsd_naive,
    hu_greedy,
    k_seq,
    layered,
    lifted,
    lifted_k_seq,
    naive_tree,
    nss,
    one_hot,
    rrs,
    specinfer,
    token,
    traversal,
)
from draftproof.theory.verifiers.shared import modified_target, optimal, priority

KEPT = {
    "judged": "children are judged in the plan's order, each kept with its rate where no earlier one was",
    "shares": "each child has its share of being the one that is kept, none below 0 and together at most 1",
}
"""A method of plans -> what it gives, the children that were drawn each with a number."""
ON_AVERAGE = "on average over the draws no token is kept more than the row has of it"

ALIKE = frozenset((*CHAIN, "tree with replacement"))
INDEPENDENT = ALIKE | {"stratified", "greedy"}
"""Drafts whose siblings are drawn independently, all from one row, or each from its own."""

CONTRACTS: dict[Callable, tuple[tuple[ModuleType, ...], str, frozenset[str]]] = {
    k_seq.planned: ((k_seq, priority), "561b94db0241623b", ALIKE),
    lifted_k_seq.planned: ((lifted_k_seq, k_seq, priority), "3c400809ffe12151", ALIKE),
    lifted.planned: (
        (lifted, layered, level, flow, siblings),
        "98b09cd3ffc1086e",
        frozenset((*CHAIN, *TREES, *PATHS)),
    ),
    priority.planned: ((priority, draft), "a42fa60d8d29e0b4", INDEPENDENT),
    **dict.fromkeys(
        (optimal.planned, optimal.planned_in_lift),
        ((optimal, priority, draft, level, siblings), "ec9c40ff1a42becc", INDEPENDENT),
    ),
}
"""Function that makes a plan -> (the modules that it runs, the hash of their code that the contract was
tested for, the drafts that it is about).
"""


def plan_of(run: Any, function: Any, arguments: list[Any]) -> Plan | None:
    """The plan that a function makes of a row at `here`, None if it has no contract. Raises NotFollowed where
    its code has changed, and for drafts that the contract is not about.
    """
    try:
        found = CONTRACTS.get(function)
    except TypeError:
        return None
    if found is None:
        return None
    modules, known, drafts = found
    if digest(*modules) != known:
        raise NotFollowed(f"{function.__name__} has changed since its contract was tested")
    match arguments:
        case [Named(name="draft"), node, Row() as row] if node is run.here:
            covered = drafts.issuperset(run.hypotheses.verifier.drafts)
        case _:
            covered = False
    if not covered:
        raise NotFollowed(f"{function.__name__} is called in a way that its contract does not cover")
    made = inspect.get_annotations(function)["return"]
    kinds = get_args(made) or (made,)
    methods = tuple(name for name in KEPT if all(hasattr(each, name) for each in kinds))
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    said = f"{name}: {'; or '.join(KEPT[each] for each in methods)}; {ON_AVERAGE}"
    if said not in run.hypotheses.contracts:
        run.hypotheses.contracts.append(said)
    rest = run.fresh(PART, f"what {name} leaves", row)
    taken = Row(a - b for a, b in zip(row, rest, strict=True))
    for entry in taken:
        run.space.assume(entry, ZERO | POSITIVE)
    taken.positive = True
    run.space.assume(1 - rows.total(taken), ZERO | POSITIVE)
    return Plan(taken, rest, methods)


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
    rows: "b3bb001434898a7e",
    table: "6921b56734b7800c",
    memo: "521ed77239fad076",
    oracle: "c1d0b6ba4785b385",
    draft: "eda4cb1bd78aaa37",
    chain: "d75bd62c0834f187",
    tree: "8d52485591805292",
    greedy: "74d860f69817e9c0",
    paths: "3ad4a1adc46e631e",
    shape: "29f138372f4b8c17",
    stratified: "2e84224d9317def9",
    strata: "628f3849eee42bce",
    verifier: "b5a76c942fe16b6c",
    enumerator: "5fab821533dddff4",
}
"""Module -> the hash of the code that the models were compared with."""


def must_be_modelled() -> None:
    """Raises NotFollowed if code that proofs rely on has changed since its model was compared with it."""
    for module, known in MODELLED.items():
        if digest(module) != known:
            raise NotFollowed(f"{module.__name__} has changed since the proofs' model of it was tested")
