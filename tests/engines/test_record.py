"""docs/engines.json has all of a verdict in each row, and says `on_policy` of none that a check refused."""

import json
from pathlib import Path

import pytest

RECORD = Path(__file__).parents[2] / "docs" / "engines.json"
ROWS = json.loads(RECORD.read_text(encoding="utf-8"))
KEYS = {"engine", "version", "setting", "options", "released", "on_policy", "date", "command", "verdict"}
KEYS |= {"said", "second", "z", "rows_off", "seconds"}


def faults(row):
    """What is missing of a row, or contradicts itself."""
    zs = [z for each in row.get("z", {}).values() if isinstance(each, list) for z in each]
    refused = row.get("verdict") == "rejected" or row.get("second") != "right"
    return [
        *sorted(KEYS - row.keys()),
        *(["z"] if not zs else []),
        *(["command"] if not row.get("command", "").startswith("python -m tests.engines") else []),
        *(["on_policy"] if row.get("on_policy") is not (not refused) else []),
        *(["large z"] if row.get("second") == "right" and max(map(abs, zs)) > 4 else []),
        *(["seconds"] if not row.get("seconds", 0) > 0 else []),
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['engine']}, {row['setting']}")
def test_rows_are_whole(row):
    assert faults(row) == []


@pytest.mark.parametrize(
    "changed", [{"on_policy": True}, {"z": {}}, {"command": "by hand"}, {"seconds": 0}, {"second": "right"}]
)
def test_rows_that_are_not_are_refused(changed):
    [wrong] = [row for row in ROWS if row["setting"] == "drafter" and row["engine"] == "vllm"]
    assert not wrong["on_policy"]
    assert faults(wrong | changed)


def test_rows_are_distinct():
    assert len({(row["engine"], row["version"], row["setting"]) for row in ROWS}) == len(ROWS)
