"""The exact verifiers that batches are compared with, by name.

The batched priority rule is the one in classes, of the same name as the exact one that orders all tokens.
"""

from dataclasses import replace

from draftproof.theory import classes
from draftproof.theory.verifiers import VERIFIERS

EXACT = {
    **VERIFIERS,
    "priority": replace(VERIFIERS["priority"], verify=classes.verify),
    "lifted-priority": replace(VERIFIERS["lifted-priority"], verify=classes.verify_lifted),
}
