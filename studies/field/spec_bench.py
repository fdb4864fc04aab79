"""hemingkx/Spec-Bench: EAGLE-2's `evaluate_posterior` at temperatures 1 and 1/2."""

from clones import clone
from eagle_posterior import verifier

FILE = clone("hemingkx/Spec-Bench", "model/eagle2/utils.py")
plain, half = verifier(FILE, 1), verifier(FILE, 0.5)
