"""Requirements on the kernels' time."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.on_gpu.figure import Figure, answer

OURS = "kernels", "torch"
SHARE, SECONDS, OVER_TOKEN, OVER_RECURSIVE = 0.7, 60e-6, 1.15, 1.5
WHERE = "V = 131,072, gamma = 8, bfloat16"

Points = Mapping[str, dict[str, Any]]
"""Method -> its point."""


def timing(found: Mapping[str, Any]) -> Iterator[Figure]:
    """Figures from the benchmark of the kernels; if they are missing (no GPU), from that of plain torch."""
    many, one, tree = (
        _points(answer(found, "kernels", name)) for name in ("chain, B = 64", "chain, B = 1", "tree, B = 8")
    )
    yield _share(many, f"block, {WHERE}, B = 64: share of the bandwidth floor >= {SHARE:.0%}")
    yield _device_time(one, f"block, {WHERE}, B = 1: less than {SECONDS * 1e6:.0f} us")
    for points, B in ((many, 64), (one, 1)):
        yield _peers(points, f"block, B = {B}: at least as fast as every peer")
    for points, B in ((many, 64), (one, 1)):
        yield _over(points, "block", "token", OVER_TOKEN, f"block / token, B = {B}: at most {OVER_TOKEN}")
    said = f"traversal / rrs, 64 nodes, {WHERE}, B = 8: less than {OVER_RECURSIVE}"
    yield _over(tree, "traversal", "rrs", OVER_RECURSIVE, said, strict=True)


def _points(said: Mapping[str, Any] | None) -> Points:
    return {point["method"]: point for point in said["points"]} if said else {}


def _own(points: Points, required: str, *rules: str) -> Figure | list[dict[str, Any]]:
    """Our point for each rule, by kernels if available; or a figure that says why a point is missing."""
    if not points:
        return Figure("kernels", required)
    found = []
    for rule in rules:
        own = next((points[f"{rule} {kind}"] for kind in OURS if f"{rule} {kind}" in points), None)
        if own is None or own["seconds"] is None:
            why = own["note"] if own else next(iter(points.values()))["note"]
            return Figure("kernels", required, f"{rule}: {why or 'not run'}", False)
        found.append(own)
    return found


def _spelled(point: Mapping[str, Any]) -> str:
    note = f" ({point['note']})" if point["note"] else ""
    return f"{point['method']} {point['seconds'] * 1e6:,.1f} us{note}"


def _compiled(point: Mapping[str, Any]) -> bool:
    return point["method"].endswith("kernels")


def _share(points: Points, required: str) -> Figure:
    own = _own(points, required, "block")
    if isinstance(own, Figure):
        return own
    (block,) = own
    said = f"{block['floor_share']:.1%}, {_spelled(block)}, {block['bytes'] / 1e6:,.1f} MB"
    return Figure("kernels", required, said, _compiled(block) and block["floor_share"] >= SHARE)


def _device_time(points: Points, required: str) -> Figure:
    own = _own(points, required, "block")
    if isinstance(own, Figure):
        return own
    (block,) = own
    return Figure("kernels", required, _spelled(block), _compiled(block) and block["seconds"] < SECONDS)


def _peers(points: Points, required: str) -> Figure:
    own = _own(points, required, "block")
    if isinstance(own, Figure):
        return own
    (block,) = own
    peers = [point for point in points.values() if not point["method"].endswith(OURS)]
    ran = sorted((point for point in peers if point["seconds"]), key=lambda point: point["seconds"])
    said = [f"{point['method']} {point['seconds'] / block['seconds']:.2f} x" for point in ran]
    missing = [point["method"] for point in peers if not point["seconds"]]
    if missing:
        said.append("could not be run: " + ", ".join(missing))
    holds = _compiled(block) and block["seconds"] <= ran[0]["seconds"] if ran else None
    if holds and missing:
        holds = None  # not all packages were measured
    return Figure("kernels", required, "; ".join(said) or "no peer was there", holds)


def _over(points: Points, rule: str, base: str, most: float, required: str, strict: bool = False) -> Figure:
    own = _own(points, required, rule, base)
    if isinstance(own, Figure):
        return own
    one, two = own
    ratio = one["seconds"] / two["seconds"]
    holds = ratio < most if strict else ratio <= most
    return Figure(
        "kernels", required, f"{ratio:.3f}: {_spelled(one)}, {_spelled(two)}", _compiled(one) and holds
    )
