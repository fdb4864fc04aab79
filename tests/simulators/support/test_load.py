"""What a user's file imports decides whether it is loaded again."""

import sys
from pathlib import Path

import pytest

from draftproof.simulators.audit.load import load
from draftproof.simulators.support.load import remembered, version

FILES = {
    "top.py": "import json, numpy\nfrom pack_beside.inner import two\ndef f():\n    return two\n",
    "pack_beside/__init__.py": "",
    "pack_beside/inner.py": "from .deep import two\n",
    "pack_beside/deep.py": "two = 2\n",
    "pack_beside/aside.py": "",
}


@pytest.fixture
def top(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return f"{tmp_path}/top.py:f"


@pytest.mark.parametrize("name", FILES)
def test_an_edit_is_noticed_if_the_file_is_imported(top, name):
    made = remembered(load)
    first, before = made(top), version(top)
    assert made(top) is first
    path = Path(top.rpartition("/")[0], name)
    path.write_text(FILES[name] + "# edited\n")
    imported = name != "pack_beside/aside.py"
    assert (version(top) != before) == imported
    assert (made(top) is not first) == imported


def test_libraries_do_not_count(top):
    made, before = load(top), version(top)
    assert made() == 2
    Path(top.rpartition("/")[0], "top.py").write_text(FILES["top.py"].replace("numpy", "decimal"))
    load(top)
    Path(top.rpartition("/")[0], "top.py").write_text(FILES["top.py"])
    assert version(top) == before


def test_helpers_of_the_same_name_in_two_folders_are_not_confused(tmp_path):
    """A target loaded second must not run on the helper of the first."""
    for folder, number in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text("from helper_beside import N\ndef f():\n    return N\n")
        (tmp_path / folder / "helper_beside.py").write_text(f"N = {number}\n")
    assert [load(f"{tmp_path}/{folder}/mine.py:f")() for folder in "ab"] == [1, 2]
    (tmp_path / "b" / "helper_beside.py").write_text("N = 3\n")
    assert load(f"{tmp_path}/b/mine.py:f")() == 3


def test_a_module_of_the_current_folder_is_found_after_installed_ones(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [each for each in sys.path if each])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "named_here").mkdir()
    (tmp_path / "named_here" / "rules.py").write_text("def f():\n    return 1\n")
    (tmp_path / "numpy.py").write_text("array = None\n")
    assert load("named_here.rules:f")() == 1
    assert load("numpy:array") is not None
