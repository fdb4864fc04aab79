"""SynthID's tournament of two layers on the rows of both models, which are then verified as they are."""

from draftproof.theory.keys.keyed import Keyed
from draftproof.theory.keys.tournament import played

SCHEME = Keyed(
    "tournament-rows", "dathathri2024synthid, high-detectability speculative sampling", rows=played
)
