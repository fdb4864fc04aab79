"""Does one more path ever hurt? Open for every rule, attacked by search."""

from draftproof.proofs_check.claims.claim import REFUTED, Claim, searched, unrefuted
from draftproof.proofs_check.means import mean_on
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.instance import Instance


def _claim(verifier: str, verdict: str, source: str, seconds: float, note: str = "") -> Claim:
    def holds(instance: Instance) -> bool:
        return mean_on(instance, verifier, Paths(2, 2)) >= mean_on(instance, verifier, Paths(1, 2))

    return Claim(
        f"second-path-{verifier}",
        f"A second path never lowers E[tau] of {verifier}.",
        source,
        "paths of 2, V = 2 and 3",
        searched(holds, [Paths(2, 2)], (2, 3), 60),
        verdict=verdict,
        seconds=seconds,
        note=note,
    )


CLAIMS = (
    _claim(
        "multipath-block",
        REFUTED,
        "open; thomas2026multipath",
        1,
        "p = q = (1/3, 2/3): one path is kept whole, the better of two has another law than p. Ties are not "
        "needed: with p = (1/3, 2/3) and q = (2/5, 3/5) everywhere one path gives 137/75, two 1016/625",
    ),
    _claim("hsd-multidraft", unrefuted(156), "open; zhou2026hsd, Algorithm 3 with ratios restarted", 5),
    _claim("traversal", unrefuted(156), "open; weng2025traversal", 5),
    _claim("rrs", unrefuted(156), "open; jeon2024recursive", 5),
)
