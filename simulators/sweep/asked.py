"""What a sweep's file may ask for: kinds of rows and of drafts, their keys and defaults."""

from typing import Any

from draftproof.simulators.sweep.values import known, like, listed, one_of, positive, whole
from draftproof.theory.drafts import SCHEMES, Scheme
from draftproof.theory.drafts.shape import every
from draftproof.theory.errors import BadInput

ROWS: dict[str, dict[str, Any]] = {
    "random": {"count": 100},
    "mixed": {"count": 100},
    "dirichlet": {"count": 100, "concentration": 1.0, "far": 1.0, "grain": 2**20},
    "logits": {"count": 100, "temperatures": [1.0], "spread": 2.0, "far": 0.7, "grain": 360},
    "grid": {"denominator": 3, "symmetric": False},
    "scenarios": {},
    "text": {"file": str, "histories": 50},
}
"""Kind of rows -> its keys with their defaults; a type where there is no default."""

DRAFTS: dict[str, dict[str, Any]] = {
    "chain": {},
    "spechub": {},
    "paths": {"count": 2},
    "tree": {"width": 2, "replacement": False},
    "top-k": {"width": 2},
    "greedy": {"width": 2},
}
"""Kind of draft -> its keys with their defaults; `shape` may stand in place of `width`."""


def schemes(spec: dict[str, Any], depths: list[int]) -> list[Scheme]:
    """The drafts that one item of `drafts` asks for, one a depth."""
    kind = one_of(spec.get("kind"), DRAFTS, "drafts: kind")
    usual = DRAFTS[kind]
    known(spec, {"kind": "", **usual, **({"shape": []} if "width" in usual else {})}, f"drafts: {kind}: ")
    options = {key: like(spec.get(key, usual[key]), usual[key], f"drafts: {key}") for key in usual}
    width = options.pop("width", None)
    if "shape" in spec:
        sizes = [{"shape": spec["shape"]}]
    elif width is None:
        sizes = [{"depth": depth} for depth in depths]
    else:
        sizes = [{"shape": every(whole(width, "drafts: width"), depth)} for depth in depths]
    try:
        return [SCHEMES[kind](**size, **options) for size in sizes]
    except BadInput as error:
        raise BadInput(f"drafts: {kind}: {error}") from None


def rows(spec: dict[str, Any]) -> dict[str, Any]:
    """One item of `rows`, every key filled in."""
    kind = one_of(spec.get("kind"), ROWS, "rows: kind")
    usual = ROWS[kind]
    known(spec, {"kind": "", **usual}, f"rows: {kind}: ")
    for key, value in usual.items():
        if isinstance(value, type) and key not in spec:
            raise BadInput(f"rows: {kind}: {key} is missing")
    made = {
        key: like(spec.get(key, value), value() if isinstance(value, type) else value, f"rows: {kind}: {key}")
        for key, value in usual.items()
    }
    for key in made.keys() & {"count", "denominator", "histories", "grain"}:
        whole(made[key], f"rows: {kind}: {key}")
    for key in made.keys() & {"concentration", "spread"}:
        positive(made[key], f"rows: {kind}: {key}")
    if not 0 <= made.get("far", 0) <= 1:
        raise BadInput(f"rows: {kind}: far: must be from 0 to 1, not {made['far']:g}")
    if "temperatures" in made:
        where = f"rows: {kind}: temperatures"
        made["temperatures"] = [
            positive(like(each, 1.0, where), where) for each in listed(made["temperatures"], where)
        ]
    return {"kind": kind, **made}
