"""The code that a proof does not run as it stands, but models: it proves nothing once that code has changed.

A proof runs the source of the verifier. What the verifier calls is modelled on classes of tokens: the
operations of theory/rows.py (`operations`), how drafts are drawn (`state`) and how an oracle answers. Each
model was compared with the code on exact instances, which the enumerator computed (`test_model.py` and
`test_contracts.py` in tests/proofs_check/every_size); the hashes tie it to the code that was compared. A
table's lookup and the cache of exact rows, which a proof assumes to return the right row and the right
result, are tied in the same way.
"""

from types import ModuleType

from draftproof.proofs_check.every_size.contracts import digest
from draftproof.proofs_check.every_size.flow import NotFollowed
from draftproof.simulators.laws import enumerate as enumerator
from draftproof.theory import draft, oracle, rows, table
from draftproof.theory.drafts import chain, greedy, paths, shape, stratified, tree
from draftproof.theory.shared import memo, strata

MODELLED: dict[ModuleType, str] = {
    rows: "d94e503977d46d77",
    table: "a2e6b5ffa010952c",
    memo: "065dc1c021de588c",
    oracle: "c1d0b6ba4785b385",
    draft: "e2610e8cd33f2349",
    chain: "49ba2592a41f0374",
    tree: "8d52485591805292",
    greedy: "74d860f69817e9c0",
    paths: "b1e734c37e379f2f",
    shape: "84c3156e86596c3d",
    stratified: "2e84224d9317def9",
    strata: "7d70a3ba05d04d15",
    enumerator: "c93a130409dbfc45",
}
"""Module -> the hash of the code that the models were compared with."""


def must_be_modelled() -> None:
    """Raises NotFollowed if code that proofs rely on has changed since its model was compared with it."""
    for module, known in MODELLED.items():
        if digest(module) != known:
            raise NotFollowed(f"{module.__name__} has changed since the proofs' model of it was tested")
