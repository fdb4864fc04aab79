"""Verification algorithms, one file each, as near to the paper's pseudo-code as Python comes.

Every file has `verify(oracle, draft, target)`, which returns the node where it stops and the row
that the extra token Y is drawn from, and `VERIFIER`, its declarations. `VERIFIERS` finds them by
listing this folder: a new algorithm is one new file and its test.
"""

from draftproof.theory.errors import unknown
from draftproof.theory.shared.folder import Folder
from draftproof.theory.verifier import Verifier

VERIFIERS = Folder[Verifier](__name__, __path__, "VERIFIER")
"""Name -> verifier, imported when it is first asked for."""


def named(name: str) -> Verifier:
    """The verifier of that name. Raises BadInput, which lists similar names or all of them, if there is none.

    >>> named("block").source
    'sun2025block, Algorithm 2'
    """
    if name not in VERIFIERS:
        raise unknown("verifier", name, VERIFIERS)
    return VERIFIERS[name]
