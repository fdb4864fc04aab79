"""torch's random functions answered by a source, and what is computed from their coins followed.

A tensor of coins is a handle (a tensor of NaN with the right shape and type) and, beside it, an
array of lazy numbers that shadows it (`shadows.py`). Every torch function that meets a handle goes
through `Answering` (`mode.py`): coins are drawn (`draws.py`), arithmetic is done on the shadows
(`arithmetic.py`), comparisons and arg-extrema are decided (`operations.py`), reshaping is done on
indices (`shapes.py`). A function that is not known is refused by name.
"""

from draftproof.simulators.audit.randomness.torch_mode.mode import Answering

__all__ = ["Answering"]
