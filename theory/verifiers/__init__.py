"""Verification algorithms, one file each, as near to the paper's pseudo-code as Python comes.

Every file has `verify(oracle, draft, target)`, which returns the node where it stops and the row
that the extra token Y is drawn from, and `VERIFIER`, its declarations. `VERIFIERS` finds them by
listing this folder: a new algorithm is one new file and its test.
"""

from draftproof.theory.shared.folder import Folder
from draftproof.theory.verifier import Verifier

VERIFIERS = Folder[Verifier](__name__, __path__, "VERIFIER", "verifier")
"""Name -> verifier, imported when it is first asked for."""

named = VERIFIERS.named
