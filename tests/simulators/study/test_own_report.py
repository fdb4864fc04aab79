"""A sweep of one's own verifiers, its page, and what the page shows in a browser."""

import json
from pathlib import Path

import pytest

from draftproof.simulators.commands import report as report_command
from draftproof.simulators.instances.files import document
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from tests.simulators.study.test_page import at_explorer
from tests.simulators.test_user_code import FILES, GIVEN, SWEPT

LOSSY = {"broken.py:verify"}
WALKED = {"chain": "form.py:mine", "siblings": "rules.py:on_trees", "paths": "rules.py:verify_paths"}
"""Instance of the explorer -> the rule that is walked on it."""
DRAFTS = {"chain": Chain(1), "siblings": Tree(((), ())), "paths": Paths(2, 1)}
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
def test_one_s_own_verifiers_are_in_tables_curves_and_explorer(browser, command, tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(report_command, "STANDARD", [])
    monkeypatch.setattr(report_command, "WORST", 0)
    for name, content in (FILES | {"rules.py": FILES["rules.py"] + ON_PATHS}).items():
        Path(name).write_text(content)
    chains, others = SWEPT.rsplit("[[family]]", 1)
    others = others.replace("count = 3", "count = 1").replace('"rules.py:pair", ', "")
    others = others.replace('"rules.py:on_paths"', '"rules.py:on_paths", "rules.py:verify_paths"')
    Path("own.toml").write_text(f"{chains}[[family]]{others}")
    for name, draft in DRAFTS.items():
        Path(f"{name}.json").write_text(json.dumps(document(scenario("toy", draft, 2))))
    assert command("sweep", "own.toml", "--workers", "1")[0] == 0
    explored = [part for name in DRAFTS for part in ("--explore", f"{name}.json")]
    status, out, _ = command("report", "results/own", *explored, "--json")
    assert status == 0
    assert {"verdicts", "gaps"} <= json.loads(out)["sections"].keys()

    names = {*GIVEN, *WALKED.values(), *LOSSY} - {"form.py:verify"}
    with at_explorer(browser, tmp_path / "report.html") as tab:
        assert rows(tab, "verdicts", names) == names
        assert "lossy" in next(text for text in texts(tab, "verdicts") if "broken.py:verify" in text)
        found = set()
        for setting in tab.locator("#gap-setting option").all_inner_texts():
            tab.select_option("#gap-setting", label=setting)
            found |= rows(tab, "gaps", names)
        assert found == names
        for instance, name in WALKED.items():
            tab.select_option("#instance", label=f"{instance}.json")
            tab.wait_for_selector(f"#verifier option[value='{name}']", state="attached")
            tab.select_option("#verifier", name)
            assert "law equals the target's" in tab.locator("#said").inner_text(), name
            assert tab.locator("[data-step='0']").count()


def texts(tab, section) -> list[str]:
    """The rows of a section's table."""
    return tab.locator(f"#{section} tbody tr").all_inner_texts()


def rows(tab, section, names) -> set[str]:
    """The names in a section's table."""
    return {name for name in names if any(name in text for text in texts(tab, section))}
