"""How long the report takes to open, by the number of rows it was made of, beside an empty page.

    python benchmarks/report_page.py [--rows 100000] [--repeats 7]

Sweeps in float64, pages with the whole explorer, opened in turn in one headless Chromium run
($CHROMIUM, or the one on the path). Milliseconds from the start of navigation, medians: until the page is
interactive, until it is loaded, and until the explorer shows its first law after being scrolled to.
"""

import argparse
import os
import shutil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import click

from draftproof.simulators.commands.entry import enter
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.study.report.explorer import recorded
from draftproof.simulators.study.report.page import page
from draftproof.simulators.study.report.sections import sections
from draftproof.simulators.study.report_command import STANDARD
from draftproof.simulators.study.results import Results
from draftproof.simulators.study.sweep_command import sweep

VERIFIERS = ["token", "block", "traversal", "hsd", "hsd-released", "nss", "one-hot", "naive-tree"]


def swept(rows: int, folder: Path) -> Results:
    """A results folder of about so many rows, half of them of each metric."""
    count = max(1, rows // (2 * len(VERIFIERS) * 12))
    file = folder.with_suffix(".toml")
    file.write_text(
        f"""
metrics = ["check", "gap"]
engine = "float"
verifiers = {VERIFIERS}
depths = [1, 2]
vocabularies = [2, 3]
rows = {{ kind = "logits", count = {count}, temperatures = [0.5, 1.0, 2.0] }}
""",
        encoding="utf-8",
    )
    group = click.Group("draftproof", [sweep], context_settings={"obj": {"metrics": {}}})
    enter(group, ["sweep", str(file), "--results", str(folder)])
    return Results(folder)


def made(store: Results, instances: list) -> str:
    """The page, as the command makes it, without the registries."""
    return page("rows", "", [], sections(store), instances)


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=7)
    asked = parser.parse_args()
    instances = [(draft.label, recorded(scenario("toy", draft, vocab))) for draft, vocab in STANDARD]
    with TemporaryDirectory() as name, sync_playwright() as driver:
        pages = {"empty page": "<!doctype html><title>empty</title>"}
        for rows in (asked.rows // 100, asked.rows):
            store = swept(rows, Path(name) / str(rows))
            count = sum(store.table(metric).num_rows for metric in store.metrics)
            pages[f"{count:,} rows"] = made(store, instances)
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        times: dict[str, list[tuple[float, float, float]]] = {key: [] for key in pages}
        for _ in range(asked.repeats):
            for key, content in pages.items():
                file = Path(name) / "page.html"
                file.write_text(content, encoding="utf-8")
                tab = browser.new_page()
                tab.goto(file.as_uri())
                timing = "(({domInteractive, loadEventEnd}) => [domInteractive, loadEventEnd])"
                interactive, loaded = tab.evaluate(f"{timing}(performance.getEntriesByType('navigation')[0])")
                shown = float("nan")
                if "explorer" in content:
                    before = tab.evaluate("performance.now()")
                    tab.evaluate("document.getElementById('explorer').scrollIntoView()")
                    tab.wait_for_selector("[data-number]")
                    shown = tab.evaluate("performance.now()") - before
                times[key].append((interactive, loaded, shown))
                tab.close()
        print(f"{'page':>16}  {'MB':>5}  {'interactive':>11}  {'loaded':>7}  {'explorer':>8}")
        for key, content in pages.items():
            interactive, loaded, shown = (median(each) for each in zip(*times[key], strict=True))
            print(f"{key:>16}  {len(content) / 1e6:5.2f}  {interactive:11.0f}  {loaded:7.0f}  {shown:8.0f}")


if __name__ == "__main__":
    main()
