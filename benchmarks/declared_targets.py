"""How far the rules with another aim than p get from p: the table of docs/targets.md.

    python benchmarks/declared_targets.py --write

Runs `draftproof check --against own --json` and makes results/declared_targets.json of its summary; without
`--write` the result is printed.
"""

import argparse
import json
import subprocess
import sys
from datetime import date
from math import inf
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).parents[1]
RESULT = Path(__file__).parent / "results" / "declared_targets.json"
ARGUMENTS = ["check", "--against", "own", "--json"]
MEASURES = {
    "TV(e, p)": "total_variation",
    "KL(e, p)": "kl_emitted_target",
    "KL(p, e)": "kl_target_emitted",
}


def value(number: Any) -> float:
    """A number of the answer: a rational as text, a float, or "infinite"."""
    if number == "infinite":
        return inf
    top, _, bottom = str(number).partition("/")
    return round(float(top) / float(bottom or 1), 3)


def row(line: dict[str, Any]) -> list[Any]:
    """One rule: whether it keeps its law and its budget, and the largest distances of a token / of a text."""
    lossless, exceeded = line["lossless"] == line["instances"], line["instances"] - line["met"]
    law = ("lossless" if lossless else "lossy") if line["own_law"] else "-"
    over = f"exceeded on {exceeded}" if exceeded else "kept"
    budget = f"{line['budget']}: {over}" if line["budget"] else "-"
    ends = [f"{value(line['token'][key])} / {value(line['text'][key])}" for key in MEASURES.values()]
    return [line["against"], line["instances"], law, budget, *ends]


def measured() -> dict[str, Any]:
    """The result, as `benchmarks/results` keeps it."""
    from draftproof.theory.targets import declared

    command = [sys.executable, str(HOUSE / "draftproof.py"), *ARGUMENTS, "--jobs", "1"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    lines = [{**line, "own_law": declared(line["against"]).row is not None} for line in answer["summary"]]
    caption = "largest distance from p of what is emitted, e: of a token / of the text of depth + 1 tokens"
    columns = ["rule", "instances", "own law", "budget", *MEASURES]
    return {
        "subject": "Exact engine",
        "title": "Declared targets",
        "date": str(date.today()),
        "machine": "A",
        "commit": commit(),
        "command": f"draftproof {' '.join(ARGUMENTS)}",
        "tables": [{"caption": caption, "columns": columns, "rows": [row(line) for line in lines]}],
        "notes": [
            f"{answer['instances']:,} instances of scenarios and random rows, V = 2 to 4, one to three "
            f"drafted tokens, in {answer['seconds']:.0f} s by one process."
        ],
    }


def commit() -> str:
    """The commit of this clone."""
    command = ["git", "-C", str(HOUSE), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    text = json.dumps(measured(), indent=2) + "\n"
    if parser.parse_args().write:
        RESULT.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
