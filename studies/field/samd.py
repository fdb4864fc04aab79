"""hemingkx/Spec-Bench: SAM-Decoding's `eval_posterior` at temperatures 1 and 1/2."""

from clones import clone
from eagle_posterior import verifier

FILE = clone("hemingkx/Spec-Bench", "model/samd/utils.py")
plain, half = verifier(FILE, 1, "eval_posterior"), verifier(FILE, 0.5, "eval_posterior")
