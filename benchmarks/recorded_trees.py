"""Tables of E[tau] of whole trees, from answers of `draftproof gap --rows FILE.npz --json`.

    draftproof gpu record --temperature T --tokens 24 --every 12 --tree 2x3 --tree 4x2 --tree eagle --tree 32
        --tree 64 --out rows.npz
    draftproof gap --rows rows.npz --json > PAIR-T.json
    python benchmarks/recorded_trees.py PAIR-T.json ..

A table for each answer, every design by tree; and one of cells: lifted priority on best-first strata beside
traversal, beside the best known rule and draft of the same shape, and of any shape with as many tokens.
Differences are known minus new, on the same texts, with 95 % intervals clustered by prompt.
"""

import argparse
import json
from pathlib import Path
from typing import Any

KNOWN = "traversal", "specinfer", "rrs", "hu-greedy", "nss", "block"


def cell(each: dict[str, Any]) -> str:
    return f"{each['difference']:+.2f} ± {each['difference_half_width']:.2f}"


def named(each: dict[str, Any]) -> str:
    return f"{each['drawn_as']}, {each['siblings']}, {each['verifier']}".removeprefix("same, ")


def designs(answer: dict[str, Any]) -> tuple[list[str], list[list[object]]]:
    """(columns, rows): the mean of each design by tree."""
    trees = list(dict.fromkeys(each["tree"] for each in answer["trees"]))
    tokens = {each["tree"]: each["tokens"] for each in answer["trees"]}
    rows = dict.fromkeys((each["drawn_as"], each["siblings"], each["verifier"]) for each in answer["trees"])
    means = {
        (each["tree"], each["drawn_as"], each["siblings"], each["verifier"]): (
            f"{each['mean']:.2f} ± {each['half_width']:.2f}"
        )
        for each in answer["trees"]
    }
    heads = [tree if tree.isdigit() else f"{tree} ({tokens[tree]})" for tree in trees]
    return ["tree", "siblings", "verifier", *heads], [
        [*row, *(means.get((tree, *row)) for tree in trees)] for row in rows
    ]


def cells(name: str, answer: dict[str, Any]) -> list[tuple[list[object], list[bool]]]:
    """(row, whether the new rule is above in each comparison, and below none by more than an interval)."""
    out = []
    for tree in dict.fromkeys(each["tree"] for each in answer["trees"]):
        found = [each for each in answer["trees"] if each["tree"] == tree]
        known = [each for each in found if each["verifier"] in KNOWN]
        same = [each for each in known if each["drawn_as"] == "same"]
        groups = [[each for each in same or known if each["verifier"] == "traversal"], same or known, known]
        best = [max(group, key=lambda each: each["mean"]) for group in groups]
        above = [each["difference"] < 0 for each in best]
        within = all(each["difference"] <= each["difference_half_width"] for each in best[:2])
        row = [name, tree, f"{found[0]['mean']:.2f}", cell(best[0]), cell(best[1]), named(best[1])]
        out.append(([*row, cell(best[2]), named(best[2])], [*above, within]))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("answers", nargs="+", type=Path)
    tables, rows, verdicts = [], [], []
    for path in parser.parse_args().answers:
        answer = json.loads(path.read_text(encoding="utf-8"))
        columns, lines = designs(answer)
        texts = f"{answer['rows']} texts of {answer['sequences']} prompts"
        tables.append({"caption": f"{path.stem}: E[tau], {texts}", "columns": columns, "rows": lines})
        for row, each in cells(path.stem, answer):
            rows.append(row)
            verdicts.append(each)
    heads = ["best-first strata, lifted-priority", "traversal", "best known of the shape", "which"]
    tables.append(
        {
            "caption": "known rules less lifted priority on best-first strata, accepted tokens a step",
            "columns": ["pair and T", "tree", *heads, "best known of as many tokens", "which"],
            "rows": rows,
        }
    )
    counts = [sum(each[i] for each in verdicts) for i in range(4)]
    values = {
        "cells": len(verdicts),
        "above traversal": counts[0],
        "above the best known of the shape": counts[1],
        "above the best known of as many tokens": counts[2],
        "not below either of the shape by more than the interval": counts[3],
    }
    print(json.dumps({"tables": tables, "values": values}, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
