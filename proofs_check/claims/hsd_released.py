"""The released code of hierarchical speculative decoding (zhou2026hsd), and several paths."""

from draftproof.proofs_check.claims.claim import REFUTED, SIZES, Claim, Lossless
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths

CLAIMS = (
    Claim(
        "hsd-released-lossless",
        "HSD as released, with the uncapped joint ratio at the leaf, is lossless.",
        "zhou2026hsd, Listing 2 and repository",
        "a chain of 2, V = 2",
        REFUTED,
        1,
        Lossless("hsd-released", (2, Chain(2))),
        "p = (1/2, 1/2) and q = (1/3, 2/3) everywhere",
    ),
    Claim(
        "hsd-multidraft-released-lossless",
        "Multi-draft HSD as released, which carries the joint ratio over a stop, is lossless.",
        "zhou2026hsd, repository",
        "a chain of 2, V = 2",
        REFUTED,
        1,
        Lossless("hsd-multidraft-released", (2, Chain(2))),
        "one path suffices: its full path is kept with the uncapped ratio",
    ),
    Claim(
        "hsd-multidraft-lossless",
        "Multi-draft HSD with the ratio restarted after a stop and the leaf capped is lossless.",
        "zhou2026hsd, Algorithm 3 read so",
        "V = 2: a chain of 2, two paths of 1 and of 2",
        SIZES,
        10,
        Lossless("hsd-multidraft", (2, Chain(2)), (2, Paths(2, 1)), (2, Paths(2, 2))),
    ),
)
