"""Green lists on the rows of both models: half of the tokens are favoured, by a bit each for every context.

It distorts: over keys the text follows the declared target `green`, not p.
"""

from flint import fmpq

from draftproof.theory.keys.keyed import Keyed
from draftproof.theory.keys.tournament import lists
from draftproof.theory.rows import Row
from draftproof.theory.shared.coins import Coins, Name
from draftproof.theory.targets import declared
from draftproof.theory.targets.green import favoured


def listed(coins: Coins, row: Row, name: Name, parameter: fmpq) -> Row:
    """The row with the tokens of the list favoured."""
    bits, shares = lists(row)
    return favoured(row, bits[coins.choose(shares, name)], parameter)


SCHEME = Keyed(
    "green",
    "kirchenbauer2023watermark, soft lists",
    rows=listed,
    parameter=fmpq(2),
    law=lambda parameter: declared(f"green:{parameter}"),
)
