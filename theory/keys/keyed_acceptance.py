"""Keyed acceptance coins beside both keys: the text is a function of the keys, and no draft is lost."""

from draftproof.theory.keys.keyed import Keyed

SCHEME = Keyed("keyed-acceptance", "he2026improve", draft="A", extra="B", accept="R")
