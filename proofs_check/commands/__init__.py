"""The commands of this package."""

from proofs_check.commands.claims import claims
from proofs_check.commands.prove import prove

COMMANDS = (prove, claims)
