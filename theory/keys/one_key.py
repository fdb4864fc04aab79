"""One key for drafted tokens and the extra token: what a draft was rejected for decides what replaces it."""

from draftproof.theory.keys.keyed import Keyed

SCHEME = Keyed("one-key", "ours, a fault: keys must differ", draft="A", extra="A")
