"""The rows of both models drawn towards one keyed token: (1 - a) p + a (the token that the key draws from p).

With one name for both the drafter's token and the target's agree as often as a shared race makes them. The
parameter a goes from no watermark to the strongest, the curve on which strength costs acceptance.
"""

from flint import fmpq

from draftproof.theory.keys.keyed import Keyed, won
from draftproof.theory.rows import Row, add, scale
from draftproof.theory.shared.coins import Coins, Name


def drawn_to(coins: Coins, row: Row, name: Name, a: fmpq) -> Row:
    """(1 - a) row + a (its keyed token)."""
    return add(scale(1 - a, row), scale(a, won(coins, row, name)))


SCHEME = Keyed(
    "linear", "he2026improve, linear classes", parameter=fmpq(1, 2), most=fmpq(1), rows="L", change=drawn_to
)
