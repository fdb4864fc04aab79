"""The hash of sources: it follows imports into the project and beside a file, and nowhere else."""

import sys

import pytest

from draftproof.simulators.audit.load import load
from draftproof.simulators.support.sources import digest, imported
from draftproof.theory.errors import BadInput

PROJECT = {
    "top.py": "import json, numpy\nfrom pack.inner import one\n",
    "pack/__init__.py": "",
    "pack/inner.py": "from . import deep\nfrom .deep import two as one\n",
    "pack/deep.py": "two = 2\n",
    "pack/aside.py": "",
}


@pytest.fixture
def project(tmp_path):
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_what_a_file_imports_from_beside_it_counts(project):
    found = imported(project / "top.py")
    assert found.keys() == {"top", "pack", "pack.inner", "pack.deep", "numpy"}
    assert found["numpy"].decode() == sys.modules["numpy"].__version__


def test_a_package_on_the_path_is_followed_without_importing_it(project, monkeypatch):
    monkeypatch.syspath_prepend(project)
    assert imported("pack.inner").keys() == {"pack", "pack.inner", "pack.deep"}
    assert not {"pack", "pack.inner"} & sys.modules.keys()


@pytest.mark.parametrize("name", PROJECT)
def test_an_edit_changes_the_hash_if_the_file_is_imported(project, name):
    before = digest(project / "top.py")
    (project / name).write_text(PROJECT[name] + "# edited\n")
    assert (digest(project / "top.py") != before) == (name != "pack/aside.py")


def test_a_verifier_does_not_count_other_verifiers(project):
    found = imported("draftproof.theory.verifiers.token")
    assert "draftproof.theory.rows" in found
    assert "draftproof.theory.verifiers.block" not in found


def test_what_has_no_source_is_refused():
    with pytest.raises(BadInput, match=r"no_such_module\.part: has no source file"):
        digest("no_such_module.part")


def test_helpers_of_the_same_name_in_two_folders_are_not_confused(tmp_path):
    """A target loaded second must not run on the helper of the first."""
    for folder, number in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text("from helper_beside import N\ndef f():\n    return N\n")
        (tmp_path / folder / "helper_beside.py").write_text(f"N = {number}\n")
    assert [load(f"{tmp_path}/{folder}/mine.py:f")() for folder in "ab"] == [1, 2]
    (tmp_path / "b" / "helper_beside.py").write_text("N = 3\n")
    assert load(f"{tmp_path}/b/mine.py:f")() == 3
