"""jadohu/LANTERN: `EaModel.evaluate_posterior` without relaxed acceptance, at temperatures 1 and 1/2."""

from clones import clone
from eagle_posterior import verifier

FILE = clone("jadohu/LANTERN", "models/ea_model_llamagen.py")
plain, half = (verifier(FILE, each, owner="EaModel") for each in (1, 0.5))
