"""Generators that a module other than the audited one holds."""

import random
from random import random as coin

import numpy as np
from numpy.random import default_rng as made

OWN, PYTHON = np.random.default_rng(0), random.Random(0)
COINS = {
    "by name": lambda: coin(),
    "numpy": lambda: OWN.random(),
    "python": lambda: PYTHON.random(),
    "made": lambda: made().random(),
}
