"""What texts name exists: files, modules that are run, commands and their options."""

import doctest
import re
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import click

import draftproof

HOUSE = Path(__file__).parents[1]
ROOMS = ("theory", "simulators", "proofs_check", "gpu", "tests", "benchmarks", "docs", "studies")
FILES = [*HOUSE.glob("*.*"), *(path for room in ROOMS for path in (HOUSE / room).rglob("*.*"))]
PATHS = [path.relative_to(HOUSE).as_posix() for path in FILES]
EXEMPT = (
    "tests/benchmarks/on_gpu/test_runs.py",  # quotes pytest's lines on tests that do not exist
    "docs/measurements.md",  # commands as they were at their commit
)
OURS = [path for path in PATHS if path.endswith((".md", ".py")) and path not in EXEMPT]
TEXTS = {path: (HOUSE / path).read_text(encoding="utf-8") for path in OURS}
"""Every page and every source but those."""

PLACE = re.compile(rf"(?<![\w/.:-])((?:{'|'.join(ROOMS)})/[\w/.-]*\w)")
FILE = re.compile(r"`((?:(\w+)/)?[\w/-]+\.(?:py|md|toml|js))`")
MODULE = re.compile(r"python -m ([\w.]+)")
CALL = re.compile(r"(`?)draftproof(?:\.py)? ([a-z][^\n`#|;&]*)")


def named(pattern):
    """What every text names, with where."""
    return [(path, *match.groups()) for path, text in TEXTS.items() for match in pattern.finditer(text)]


def test_places_exist():
    assert [each for each in named(PLACE) if not (HOUSE / each[1]).exists()] == []


def test_files_named_alone_exist():
    folders = {folder.name for path in FILES for folder in path.parents}
    ours = [(text, file) for text, file, folder in named(FILE) if folder is None or folder in folders]
    assert [each for each in ours if not any(f"/{path}".endswith(f"/{each[1]}") for path in PATHS)] == []


def test_pages_are_in_the_navigation():
    pages = {
        path.removeprefix("docs/") for path in PATHS if path.startswith("docs/") and path.endswith(".md")
    }
    assert pages == set(re.findall(r"[\w/-]+\.md", (HOUSE / "mkdocs.yml").read_text(encoding="utf-8")))


def test_tables_are_those_of_the_results():
    spec = spec_from_file_location("results_tables", HOUSE / "docs" / "results_tables.py")
    tables = module_from_spec(spec)
    spec.loader.exec_module(tables)
    assert tables.stale() == {}  # `python docs/results_tables.py --write` renews them
    assert doctest.testmod(tables).failed == 0
    subjects = {tables.result(path.name)["subject"] for path in tables.RESULTS.glob("*.json")}
    assert subjects == {None, *tables.SUBJECTS}  # without one: tables of other pages


def test_every_public_name_is_on_its_page():
    assert [name for name in draftproof.__all__ if f"`dp.{name}" not in TEXTS["docs/api.md"]] == []


def test_modules_that_are_run_exist():
    assert [each for each in named(MODULE) if find_spec(each[1]) is None] == []


def test_commands_and_their_options_exist():
    front = draftproof.commands()
    wrong = []
    for text, quoted, call in named(CALL):
        command, unknown = reached(front, call)
        if isinstance(command, click.Group):  # prose, unless it is quoted
            wrong += [(text, call)] if quoted and unknown.isalpha() else []
            continue
        options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
        asked = re.findall(r"(?<!\S)--[a-z][a-z0-9-]*", call)
        wrong += [(text, call, option) for option in asked if option not in options | {"--help"}]
    assert wrong == []


def reached(front, call):
    """The command that a command line runs, and the word that is none."""
    command = front
    for word in call.split():
        if not isinstance(command, click.Group):
            break
        found = command.get_command(click.Context(command), word)
        if found is None:
            return command, word
        command = found
    return command, ""
