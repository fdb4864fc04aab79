"""HArmonizedSS/HASS: `evaluate_posterior` at temperatures 1 and 1/2."""

from clones import clone
from eagle_posterior import verifier

FILE = clone("HArmonizedSS/HASS", "model/utils.py")
plain, half = verifier(FILE, 1), verifier(FILE, 0.5)
