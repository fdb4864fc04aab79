"""Requirements on decoding with a pair of models that is not the small one in the package."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.on_gpu.figure import Figure, answer, runs, settled

VERIFICATION = 0.02
SHIPPED = "gpu/pair/target"


def decoding(found: Mapping[str, Any]) -> Iterator[Figure]:
    """From `gpu validate` and `gpu bench --model`."""
    yield _validated(answer(found, "validate"))
    done = [run["answer"] for run in runs(found, "bench")]
    said = [each for each in done if each]
    complete = all(each and each["complete"] for each in done)
    cells = [cell for each in said for cell in each["cells"]]
    drafted = [cell for cell in cells if "steps" in cell]
    other = bool(said) and not any(each["model"].endswith(SHIPPED) for each in said)
    for figure in (*_speeds(drafted), _verification(drafted)):
        yield figure if other else _tiny(figure)
    yield _agreement(drafted, complete)


def _tiny(figure: Figure) -> Figure:
    said = figure.measured and f"{figure.measured}, on the pair in the package, whose models are tiny"
    return Figure(figure.stage, figure.required, said)


def _validated(said: Mapping[str, Any] | None) -> Figure:
    required = "decoding keeps the target's law, greedy text and predicted acceptance; faults are noticed"
    if said is None:
        return Figure("validate", required)
    cells = said["cells"]
    bad = [f"{cell['draft']} {cell['verifier']}: {each}" for cell in cells for each in cell["problems"]]
    fine = sum(not cell["problems"] for cell in cells)
    made = f"{fine} of {len(cells)} cells as expected" + "".join(f"; {each}" for each in bad[:5])
    return Figure("validate", required, *settled(made, fine == len(cells) > 0, said["complete"]))


def _speeds(cells: list[dict[str, Any]]) -> Iterator[Figure]:
    required = "speculative / plain decoding in tokens a second: above 1, interval and all"
    temperatures = sorted({cell["temperature"] for cell in cells})
    for temperature in temperatures:
        here = [cell for cell in cells if cell["temperature"] == temperature and cell["over_plain"]["low"]]
        best = max(here, key=lambda cell: cell["over_plain"]["low"], default=None)
        if best is None:
            yield Figure("bench", f"{required}, T = {temperature:g}", "fewer than two repeats")
            continue
        above = sum(cell["over_plain"]["low"] > 1 for cell in here)
        named = f"{best['method']} {best['draft']}"
        said = f"{named} {_interval(best['over_plain'])}; {above} of {len(here)} cells"
        yield Figure("bench", f"{required}, T = {temperature:g}", said, best["over_plain"]["low"] > 1)
    if not temperatures:
        yield Figure("bench", required)


def _verification(cells: list[dict[str, Any]]) -> Figure:
    required = f"verification takes less than {VERIFICATION:.0%} of a step"
    if not cells:
        return Figure("bench", required)
    ordered = sorted(cells, key=lambda cell: cell["phases"]["verify"])
    least, most = ordered[0], ordered[-1]
    fine = sum(cell["phases"]["verify"] < VERIFICATION for cell in cells)
    ends = " to ".join(
        f"{cell['phases']['verify']:.1%} ({cell['method']} {cell['draft']} T = {cell['temperature']:g})"
        for cell in (least, most)
    )
    return Figure("bench", required, f"{ends}; {fine} of {len(cells)} cells", fine == len(cells))


def _agreement(cells: list[dict[str, Any]], complete: bool) -> Figure:
    required = "measured and predicted E[tau] agree in every cell"
    if not cells:
        return Figure("bench", required)
    bad = [f"{cell['method']} {cell['draft']}: {each}" for cell in cells for each in cell["problems"]]
    fine = sum(not cell["problems"] for cell in cells)
    said = f"{fine} of {len(cells)} cells" + "".join(f"; {each}" for each in bad[:5])
    return Figure("bench", required, *settled(said, fine == len(cells), complete))


def _interval(found: Mapping[str, float | None]) -> str:
    if found["low"] is None:
        return f"{found['value']:.3f}"
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"
