"""Exact volumes of what is known about several coins together: products and races.

One coin alone is an interval and needs nothing from here. Two situations tie coins together and
still have closed forms: products u_1 .. u_k compared with numbers (`chains.py`), and exponentials
compared with multiples of one another and with numbers (`racing.py`).
"""

from draftproof.simulators.audit.randomness.volumes.chains import products
from draftproof.simulators.audit.randomness.volumes.precision import Interval, exponential
from draftproof.simulators.audit.randomness.volumes.racing import interval, race

__all__ = ["Interval", "exponential", "interval", "products", "race"]
