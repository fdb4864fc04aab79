"""Tables of a TOML file, checked by pydantic: a fault is one line that names the key."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from draftproof.theory.errors import BadInput, quoted

T = TypeVar("T")
Listed = Annotated[list[T], Field(min_length=1)]
Distinct = Annotated[list[T], AfterValidator(lambda values: list(dict.fromkeys(values)))]
Whole = Annotated[int, Field(ge=1, lt=2**63)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1)]

Keys = Mapping[str, Any]
"""Key -> (type, default), with `...` where there is no default."""


class Spec(BaseModel):
    """A table of known keys, whose values have the right type; whole numbers serve as floats."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return known_keys(given, cls.model_fields)


def known_keys(given: Mapping[str, Any], keys: Collection[str]) -> Mapping[str, Any]:
    """The table; BadInput that names the first unknown key, and the nearest known one."""
    for key in given:
        if key not in keys:
            raise BadInput(f"unknown key {quoted(key)}; {_hint(key, keys)}")
    return given


def one_of(value: Any, names: Collection[str]) -> str:
    """The value if it is one of the names, else BadInput."""
    if not isinstance(value, str) or value not in names:
        problem = "is missing" if value is None else f"{quoted(value)} is unknown"
        raise BadInput(f"{problem}; {_hint(str(value), sorted(names))}")
    return value


def among(names: Collection[str]) -> BeforeValidator:
    """Checks that a value is one of the names."""
    return BeforeValidator(lambda value: one_of(value, names))


def of_kind(kinds: Mapping[str, Keys]) -> BeforeValidator:
    """Fills in a table whose `kind` decides its other keys; a bare word is a kind."""
    models = {kind: create_model(kind, __base__=Spec, **dict(keys)) for kind, keys in kinds.items()}

    def read(value: Any) -> dict[str, Any]:
        table = value if isinstance(value, dict) else {"kind": value}
        try:
            kind = one_of(table.get("kind"), kinds)
        except BadInput as error:
            raise BadInput(f"kind: {error}") from None
        try:
            made = models[kind].model_validate({key: table[key] for key in table if key != "kind"})
        except ValidationError as error:
            raise BadInput(f"{kind}: {fault(error)}") from None
        return {"kind": kind, **made.model_dump(exclude_none=True)}

    return BeforeValidator(read)


def fault(error: ValidationError) -> str:
    """The first fault of a table, behind the keys that lead to it."""
    first = error.errors()[0]
    keys = [part for part in first["loc"] if isinstance(part, str)]
    line = first["msg"].removeprefix("Value error, ")
    if line.startswith("Input should be "):
        line = f"must be {line.removeprefix('Input should be ')}, not {quoted(first['input'])}"
    return ": ".join([*keys, line])


def _hint(word: str, names: Collection[str]) -> str:
    near = get_close_matches(word, names, 1)
    return f"did you mean {quoted(near[0])}?" if near else f"there are {', '.join(names)}"
