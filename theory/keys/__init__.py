"""Keyed sampling, one file a scheme: coins that are functions of a secret key and of the last tokens.

Every file has `SCHEME`, which says which coins of a decoder are keyed, and how; `keyed` has its type.
`SCHEMES` finds them by listing this folder. `run` is one call of a decoder under keys.
"""

from dataclasses import replace

from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.keys.keyed import CONTEXTS, Keyed
from draftproof.theory.shared.folder import Folder

SCHEMES = Folder[Keyed](__name__, __path__, "SCHEME", "keyed scheme", besides=("keyed", "run"))
"""Name -> scheme, imported when it is first asked for."""


def keys(spelling: str) -> Keyed:
    """The scheme given by words joined by commas: its name, a parameter after a colon, and in any order
    `none`, `committed` or `drafted`, `width=N`, `lookback`. Raises BadInput.

    >>> str(keys("dual-key")), str(keys("dual-key,width=2,drafted"))
    ('dual-key,committed,width=1', 'dual-key,drafted,width=2')
    """
    first, *words = spelling.split(",")
    name, colon, parameter = first.partition(":")
    found = SCHEMES.named(name)
    found = found.at(parameter) if colon else found
    for word in words:
        what, _, number = word.partition("=")
        if word in CONTEXTS:
            found = replace(found, deduplicate=word)
        elif what == "width" and number.isdecimal() and 1 <= len(number) <= 2:
            found = replace(found, width=int(number))
        elif word == "lookback":
            found = replace(found, lookback=True)
        else:
            raise BadInput(f"keys: {quoted(word)} is not one of {', '.join(CONTEXTS)}, width=N, lookback")
    return found
