"""What audits found, as files that continuous integration reads: JUnit XML and SARIF."""

import ast
import json
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from draftproof.simulators.audit.judge.report import Report
from draftproof.simulators.support.files import replacing
from draftproof.theory.errors import BadInput, printable

LEVELS = {0: ("none", "pass"), 1: ("error", "fail"), 3: ("warning", "fail")}
"""Exit status -> SARIF's words."""


def written(path: Path, reports: Sequence[Report]) -> None:
    """Writes the reports as JUnit (.xml) or SARIF (.sarif); BadInput for another suffix."""
    content = FORMATS[checked(path).suffix](reports)
    with replacing(path) as part:
        part.write_text(content, encoding="utf-8")


def checked(path: Path) -> Path:
    """The path; BadInput if its suffix names no format, or if its folder is missing."""
    if path.suffix not in FORMATS:
        raise BadInput(f"{path}: a report ends in {' or '.join(FORMATS)}")
    if not path.resolve().parent.is_dir():
        raise BadInput(f"{path}: no such file or directory")
    return path


def junit(reports: Sequence[Report]) -> str:
    """A test case for each target; one that is not lossless fails, one that is undecided is an error."""
    suite = ElementTree.Element("testsuite", name="draftproof", tests=f"{len(reports)}")
    suite.set("failures", f"{sum(each.status == 1 for each in reports)}")
    suite.set("errors", f"{sum(each.status == 3 for each in reports)}")
    for each in reports:
        case = ElementTree.SubElement(suite, "testcase", name=printable(each.target), classname="draftproof")
        case.set("time", f"{each.seconds:.3f}")
        kind = {0: "system-out", 1: "failure", 3: "error"}[each.status]
        first, *_ = lines = list(map(printable, (each.failure or str(each)).splitlines()))
        ElementTree.SubElement(case, kind, {"message": first} if each.status else {}).text = "\n".join(lines)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def sarif(reports: Sequence[Report]) -> str:
    """A result for each target, at the line where it is defined."""
    results = []
    for each in reports:
        level, kind = LEVELS[each.status]
        file, line = place(each.target)
        where = {"artifactLocation": {"uri": file}, "region": {"startLine": line}}
        said = {"message": {"text": each.failure or str(each)}, "locations": [{"physicalLocation": where}]}
        results.append({"ruleId": "lossless", "level": level, "kind": kind} | said)
    rule = {"id": "lossless", "shortDescription": {"text": "A verifier emits the target's law."}}
    driver = {"name": "draftproof", "version": version("draftproof"), "rules": [rule]}
    run = {"tool": {"driver": driver}, "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=1)


def place(target: str) -> tuple[str, int]:
    """The file, and the line in it, where `file.py:name` or `package.module:name` is defined; line 1 if the
    name is not found there, and the target itself if it has no file.
    """
    file, _, name = target.rpartition(":")
    with suppress(ImportError, ValueError):
        file = file if file.endswith(".py") else (find_spec(file).origin or "")  # type: ignore[union-attr]
    if not Path(file).is_file():
        return target, 1
    path = Path(file).resolve()
    node: ast.AST = ast.parse(path.read_bytes())
    for part in name.split("."):
        node = next((each for each in ast.walk(node) if getattr(each, "name", None) == part), node)
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return shown.as_posix(), getattr(node, "lineno", 1)


FORMATS = {".xml": junit, ".sarif": sarif}
"""Suffix -> the format."""
