"""Green lists on the rows of both models: half of the tokens are favoured, by a bit each for every context.

It distorts: over keys the text follows the declared target `green`, not p.
"""

from flint import fmpq

from draftproof.theory.keys.keyed import Keyed
from draftproof.theory.keys.tournament import bits
from draftproof.theory.rows import Row
from draftproof.theory.shared.coins import Coins, Name
from draftproof.theory.targets.green import average, favoured


def listed(coins: Coins, row: Row, name: Name, factor: fmpq) -> Row:
    """The row with the tokens of the list favoured."""
    return favoured(row, bits(coins, row, name), factor)


SCHEME = Keyed(
    "green", "kirchenbauer2023watermark, soft lists", parameter=fmpq(2), rows="G", change=listed, law=average
)
