"""Selection rules, one file each: which drafted tokens of a batch are verified.

Serving engines draft for several requests and verify only what fits. A rule is written beside the verifiers
and knows none of them; a verifier is handed the kept prefix of a draft and does not know that anything was
dropped. Every file has `RULE`, its declarations. `RULES` finds them by listing this folder.
"""

from draftproof.theory.selection.view import Rule
from draftproof.theory.shared.folder import Folder

RULES = Folder[Rule](__name__, __path__, "RULE", "selection rule", besides=("batch", "view"))
"""Name -> selection rule, imported when it is first asked for."""

named = RULES.named
