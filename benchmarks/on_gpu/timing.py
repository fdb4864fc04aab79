"""Requirements on the kernels' time."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import nextafter
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
    required = f"block, {WHERE}, B = 64: share of the bandwidth floor >= {SHARE:.0%}"
    yield _figure(many, required, ["block"], _share)
    yield _figure(one, f"block, {WHERE}, B = 1: less than {SECONDS * 1e6:.0f} us", ["block"], _device_time)
    for points, B in ((many, 64), (one, 1)):
        required = f"block, B = {B}: at least as fast as every peer"
        yield _figure(points, required, ["block"], partial(_peers, points))
    for points, B in ((many, 64), (one, 1)):
        required = f"block / token, B = {B}: at most {OVER_TOKEN}"
        yield _figure(points, required, ["block", "token"], partial(_over, most=OVER_TOKEN))
    required = f"traversal / rrs, 64 nodes, {WHERE}, B = 8: less than {OVER_RECURSIVE}"
    below = nextafter(OVER_RECURSIVE, 0)
    yield _figure(tree, required, ["traversal", "rrs"], partial(_over, most=below))


def _points(said: Mapping[str, Any] | None) -> Points:
    return {point["method"]: point for point in said["points"]} if said else {}


def _figure(
    points: Points, required: str, rules: list[str], judge: Callable[..., tuple[str, bool | None]]
) -> Figure:
    """What `judge` says of our points for the rules, by kernels if available, or why a point is missing. Only
    the kernels can meet a requirement.
    """
    if not points:
        return Figure("kernels", required)
    found: list[dict[str, Any]] = []
    for rule in rules:
        own = next((points[f"{rule} {kind}"] for kind in OURS if f"{rule} {kind}" in points), None)
        if own is None or own["seconds"] is None:
            why = own["note"] if own else next(iter(points.values()))["note"]
            return Figure("kernels", required, f"{rule}: {why or 'not run'}", False)
        found.append(own)
    said, holds = judge(*found)
    return Figure("kernels", required, said, holds and found[0]["method"].endswith("kernels"))


def _spelled(point: Mapping[str, Any]) -> str:
    note = f" ({point['note']})" if point["note"] else ""
    return f"{point['method']} {point['seconds'] * 1e6:,.1f} us{note}"


def _share(block: dict[str, Any]) -> tuple[str, bool]:
    said = f"{block['floor_share']:.1%}, {_spelled(block)}, {block['bytes'] / 1e6:,.1f} MB"
    return said, block["floor_share"] >= SHARE


def _device_time(block: dict[str, Any]) -> tuple[str, bool]:
    return _spelled(block), block["seconds"] < SECONDS


def _peers(points: Points, block: dict[str, Any]) -> tuple[str, bool | None]:
    peers = [point for point in points.values() if not point["method"].endswith(OURS)]
    ran = sorted((point for point in peers if point["seconds"]), key=lambda point: point["seconds"])
    said = [f"{point['method']} {point['seconds'] / block['seconds']:.2f} x" for point in ran]
    missing = [point["method"] for point in peers if not point["seconds"]]
    if missing:
        said.append("could not be run: " + ", ".join(missing))
    holds = block["seconds"] <= ran[0]["seconds"] if ran else None
    if holds and missing:
        holds = None  # not all packages were measured
    return "; ".join(said) or "no peer was there", holds


def _over(one: dict[str, Any], two: dict[str, Any], most: float) -> tuple[str, bool]:
    ratio = one["seconds"] / two["seconds"]
    return f"{ratio:.3f}: {_spelled(one)}, {_spelled(two)}", ratio <= most
