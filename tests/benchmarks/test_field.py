"""The page on public code: its files exist, say in one line what is absent, and its arithmetic is right."""

import ast
import os
import re
import subprocess
import sys
from fractions import Fraction

import pytest

from benchmarks.field import HOUSE, PAGE, STUDIES, Row, rows, verdict
from draftproof.simulators.audit.load import load
from draftproof.theory.errors import BadInput

TEXT = PAGE.read_text(encoding="utf-8")
SUM = re.compile(r"`([\d/+*() -]+) = (\d+(?:/\d+)?)`")
SHARED = {"by_hand", "clones", "eagle_posterior", "engines"}
IN_CALLS = {"rotalabs", "torchchat"}
"""Files of rows about calls that raise, which have no verdict."""
ADAPTERS = {
    *("hsd", "lmdeploy_cuda", "sglang_blockwise", "sglang_chain"),
    *("transformers_function", "transformers_generate", "vllm_kernels"),
}
"""Files that docs/audit.md lists, among verifiers that people run."""
KEYED = {"vllm_watermark_kernels"}
"""Files that docs/keys.md lists."""
ROW = Row("pearl", ":parallel --loop", "not lossless", "1/9")


def value(text: str) -> Fraction:
    """A sum, difference, product or quotient of integers as a fraction."""

    def of(node: ast.expr) -> Fraction:
        if isinstance(node, ast.BinOp):
            a, b = of(node.left), of(node.right)
            match node.op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case _:
                    return a / b
        assert isinstance(node, ast.Constant)
        return Fraction(node.value)  # type: ignore[arg-type]

    return of(ast.parse(text.strip(), mode="eval").body)


def test_every_command_names_a_file_and_every_file_has_a_command() -> None:
    named = {row.name for row in rows()}
    assert named == {path.stem for path in STUDIES.glob("*.py")} - SHARED - IN_CALLS - ADAPTERS - KEYED
    listed = PAGE.with_name("audit.md").read_text(encoding="utf-8")
    assert all(f"studies/field/{name}.py" in listed for name in ADAPTERS)


def test_every_command_names_what_its_file_defines() -> None:
    for row in rows():
        function = row.rest.split()[0].removeprefix(":") if row.rest.startswith(":") else "judge"
        text = (STUDIES / f"{row.name}.py").read_text(encoding="utf-8")
        assert re.search(rf"\b{function}\b", text), row


def test_the_page_has_forty_public_implementations() -> None:
    found = set(re.findall(r"^\| ([\w-]+/ ?[\w.-]+|[\w.-]+, in [\w-]+/ ?[\w.-]+)", TEXT, re.M))
    assert len(found) >= 40, sorted(found)


@pytest.mark.parametrize("sum_", sorted(set(SUM.findall(TEXT))))
def test_the_arithmetic_of_each_witness(sum_: tuple[str, str]) -> None:
    assert value(sum_[0]) == Fraction(sum_[1])


def test_a_wrong_sum_is_noticed() -> None:
    assert SUM.findall("`1/2 + 1/2 * 1/3 = 2/3`") == [("1/2 + 1/2 * 1/3", "2/3")]
    assert value("1/2 + 1/2 * 1/3") != Fraction(3, 4)


def test_each_kind_of_report_has_its_word() -> None:
    assert verdict(0, "pearl: lossless") == "lossless"
    assert verdict(1, "pearl: NOT lossless: its law is not the target's") == "not lossless"
    assert verdict(1, "pearl: fails: it raises with probability 1") == "raises"
    assert verdict(3, "pearl: not decided") == "status 3"


@pytest.mark.parametrize("name", sorted({row.name for row in rows()} - {"gemma4"}))  # transformers is there
def test_an_absent_project_is_named_in_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    for folder, told in (("", "DRAFTPROOF_FIELD must name"), ("absent", "not there; (clone|pip install)")):
        monkeypatch.setenv("DRAFTPROOF_FIELD", folder)
        with pytest.raises(BadInput, match=f"^[^\n]*{told}[^\n]*$"):
            load(f"{STUDIES}/{name}.py:verify")


@pytest.mark.slow
@pytest.mark.parametrize("command", [ROW.command, Row("litgpt", "", "not lossless", "").command])
def test_an_absent_project_ends_with_status_2(command: list[str]) -> None:
    pytest.importorskip("torch")
    absent = {**os.environ, "DRAFTPROOF_FIELD": "absent"}
    run = subprocess.run([sys.executable, *command], cwd=HOUSE, capture_output=True, text=True, env=absent)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert "not there; clone https://github.com/" in run.stderr
