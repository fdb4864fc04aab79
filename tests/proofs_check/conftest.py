"""The checker of certificates, built from its source, and Rocq on the sources of it."""

import shutil
import subprocess

import pytest

from tests.proofs_check.certified import SOURCES


@pytest.fixture(scope="module")
def checker(tmp_path_factory):
    """Runs the checker on lines: whether it accepts, and what it says."""
    if shutil.which("ocamlfind") is None:
        pytest.skip("no ocamlfind here")
    folder = tmp_path_factory.mktemp("checker")
    for name in ("checker.ml", "main.ml", "Makefile"):
        shutil.copy(SOURCES / name, folder)
    made = subprocess.run(["make", "-s", "checker"], cwd=folder, capture_output=True, text=True, check=False)
    if made.returncode != 0 and b"zarith" not in subprocess.check_output(["ocamlfind", "list"]):
        pytest.skip("no zarith here")
    assert made.returncode == 0, made.stdout + made.stderr

    def run(lines: str) -> tuple[bool, str]:
        file = folder / "certificate.jsonl"
        file.write_text(lines, encoding="utf-8")
        done = subprocess.run([folder / "checker", file], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode == 0, done.stdout

    return run


@pytest.fixture(scope="module")
def rocq(tmp_path_factory):
    """Compiles the sources, one of them edited: (whether all compile, what was said, the folder)."""
    if shutil.which("coqc") is None:
        pytest.skip("no coqc here")

    def run(*names, edit=lambda text: text):
        folder = tmp_path_factory.mktemp("rocq")
        said = ""
        for name in names:
            (folder / f"{name}.v").write_text(edit((SOURCES / f"{name}.v").read_text(encoding="utf-8")))
            done = subprocess.run(
                ["coqc", "-q", f"{name}.v"], cwd=folder, capture_output=True, text=True, check=False
            )
            said += done.stdout + done.stderr
            if done.returncode:
                return False, said, folder
        return True, said, folder

    return run
