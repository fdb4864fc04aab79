"""Values of a TOML file: each is checked where it stands, and a fault names the place."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from draftproof.theory.errors import BadInput, quoted


def known(table: Mapping[str, Any], keys: Collection[str], where: str = "") -> None:
    """BadInput that names the first unknown key, and the nearest known one."""
    for key in table:
        if key not in keys:
            raise BadInput(f"{where}unknown key {quoted(key)}; {_hint(key, keys)}")


def with_kind(spec: Any) -> dict[str, Any]:
    """A table as it is; a bare word is the table with that kind."""
    return spec if isinstance(spec, dict) else {"kind": spec}


def one_of(value: Any, names: Collection[str], where: str) -> str:
    """The value, when it is one of the names."""
    if not isinstance(value, str) or value not in names:
        fault = "is missing" if value is None else f"{quoted(value)} is unknown"
        raise BadInput(f"{where}: {fault}; {_hint(str(value), sorted(names))}")
    return value


def _hint(word: str, names: Collection[str]) -> str:
    near = get_close_matches(word, names, 1)
    return f"did you mean {quoted(near[0])}?" if near else f"there are {', '.join(names)}"


def listed(value: Any, where: str, empty: bool = False) -> list[Any]:
    """The value, when it is a list."""
    if not isinstance(value, list) or not (value or empty):
        raise BadInput(f"{where}: must be a list with something in it, not {quoted(value)}")
    return value


def whole(value: Any, where: str, least: int = 1) -> int:
    """The value, when it is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
        raise BadInput(f"{where}: must be a whole number from {least}, not {quoted(value)}")
    return value


def positive(value: float, where: str) -> float:
    """The value, when it is above 0 and finite."""
    if not 0 < value < float("inf"):
        raise BadInput(f"{where}: must be above 0, not {value:g}")
    return value


def like(value: Any, usual: Any, where: str) -> Any:
    """The value, when it is of the type of the usual one; whole numbers serve as floats."""
    if isinstance(usual, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not type(usual):
        kinds = {
            bool: "true or false",
            int: "a whole number",
            float: "a number",
            str: "a string",
            list: "a list",
        }
        raise BadInput(f"{where}: must be {kinds[type(usual)]}, not {quoted(value)}")
    return value
