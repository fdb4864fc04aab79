"""A sweep of one's own verifiers, its page, and what the page shows in a browser."""

import json
from pathlib import Path

import pytest

from tests.simulators.study.test_page import opened_page
from tests.simulators.test_user_code import FILES, GIVEN, SWEPT

LOSSY = {"broken.py:verify"}
ON_PATHS = """
def verify_paths(oracle, draft, target):  # the target draws, and a path goes on where it has the token
    node = draft.root
    while True:
        row = target[node.prefix]
        token = oracle.choose(row)
        child = node.child(token)
        if child is None:
            return node, tuple(x - x + (n == token) for n, x in enumerate(row))
        if not child.children:
            return child, target[child.prefix]
        node = child
"""


@pytest.mark.slow
def test_one_s_own_verifiers_are_in_the_tables(browser, command, tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    for name, content in (FILES | {"rules.py": FILES["rules.py"] + ON_PATHS}).items():
        Path(name).write_text(content)
    chains, others = SWEPT.rsplit("[[family]]", 1)
    others = others.replace("count = 3", "count = 1").replace('"rules.py:pair", ', "")
    others = others.replace('"rules.py:on_paths"', '"rules.py:on_paths", "rules.py:verify_paths"')
    Path("own.toml").write_text(f"{chains}[[family]]{others}")
    assert command("sweep", "own.toml", "--workers", "1")[0] == 0
    status, out, _ = command("report", "results/own", "--json")
    assert status == 0
    assert {"verdicts", "gaps"} <= json.loads(out)["sections"].keys()

    names = {*GIVEN, "form.py:mine", "rules.py:on_trees", "rules.py:verify_paths", *LOSSY} - {
        "form.py:verify"
    }
    with opened_page(browser, tmp_path / "report.html") as tab:
        assert rows(tab, "verdicts", names) == names
        assert "lossy" in next(text for text in texts(tab, "verdicts") if "broken.py:verify" in text)
        found = set()
        for setting in tab.locator("#gap-setting option").all_inner_texts():
            tab.select_option("#gap-setting", label=setting)
            found |= rows(tab, "gaps", names)
        assert found == names


def texts(tab, section) -> list[str]:
    """The rows of a section's table."""
    return tab.locator(f"#{section} tbody tr").all_inner_texts()


def rows(tab, section, names) -> set[str]:
    """The names in a section's table."""
    return {name for name in names if any(name in text for text in texts(tab, section))}
