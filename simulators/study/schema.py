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
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
    model_validator,
)

from draftproof.theory.errors import BadInput, quoted

Keys = Mapping[str, tuple[Any, Any]]
"""Key -> (type, default); `...` where there is none."""


class Spec(BaseModel):
    """A table of known keys, whose values have the right type; whole numbers serve as floats."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, given: dict[str, Any]) -> dict[str, Any]:
        known_keys(given, cls.model_fields)
        for name, field in cls.model_fields.items():
            if field.is_required() and name not in given:
                raise BadInput(f"{name} is missing")
        return given


def known_keys(given: Collection[str], keys: Collection[str]) -> None:
    """BadInput that names the first unknown key, and the nearest known one."""
    for key in given:
        if key not in keys:
            raise BadInput(f"unknown key {quoted(key)}; {_hint(key, keys)}")


def one_of(value: Any, names: Collection[str]) -> str:
    """The value if it is one of the names, else BadInput."""
    if not isinstance(value, str) or value not in names:
        problem = "is missing" if value is None else f"{quoted(value)} is unknown"
        raise BadInput(f"{problem}; {_hint(str(value), sorted(names))}")
    return value


def name_among(names: Collection[str]) -> BeforeValidator:
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
    cause = first.get("ctx", {}).get("error")
    return ": ".join([*keys, str(cause) if cause else first["msg"].lower()])


def _hint(word: str, names: Collection[str]) -> str:
    near = get_close_matches(word, names, 1)
    return f"did you mean {quoted(near[0])}?" if near else f"there are {', '.join(names)}"


def _must_be(what: str) -> WrapValidator:
    # Words for a fault of the value itself; a fault inside a list keeps its own.
    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            if any(each["loc"] for each in error.errors()):
                raise
            raise BadInput(f"must be {what}, not {quoted(value)}") from None

    return WrapValidator(check)


T = TypeVar("T")
Listed = Annotated[list[T], Field(min_length=1), _must_be("a list with something in it")]
DISTINCT = AfterValidator(lambda values: list(dict.fromkeys(values)))
Distinct = Annotated[list[T], DISTINCT, _must_be("a list")]
Natural = Annotated[int, Field(ge=0, lt=2**63), _must_be("a whole number from 0")]
Whole = Annotated[int, Field(ge=1, lt=2**63), _must_be("a whole number from 1")]
Several = Annotated[int, Field(ge=2, lt=2**63), _must_be("a whole number from 2")]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), _must_be("above 0")]
Fraction = Annotated[float, Field(ge=0, le=1), _must_be("from 0 to 1")]
Flag = Annotated[bool, _must_be("true or false")]
Text = Annotated[str, _must_be("a string")]
