"""The registry: every name users know, each with a source that can be looked up."""

import ast
import json
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from draftproof.theory import verifiers
from draftproof.theory.errors import BadInput
from draftproof.theory.verifier import ALL, resolved
from draftproof.theory.verifiers import VERIFIERS, named
from tests.checks import assert_one_line
from tests.problems import SCHEMES

ROOT = Path(__file__).parents[3]
NAMES = [
    "token",
    "block",
    "greedy-block",
    "hsd",
    "hsd-naive",
    "hsd-released",
    "hsd-multidraft",
    "hsd-multidraft-released",
    "specinfer",
    "rrs",
    "nss",
    "naive-tree",
    "k-seq",
    "hu-greedy",
    "spechub",
    "traversal",
    "multipath-block",
    "priority",
    "lifted-priority",
    "optimal",
    "lifted-optimal",
    "one-hot",
    "sampling-match",
    "typical",
]
LOSSY = {"hsd-released", "hsd-multidraft-released", "typical"}
KEYS = set(
    re.findall(r"^@\w+\{([^,\s]+),", (ROOT / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
)
EVERY = pytest.mark.parametrize("verifier", VERIFIERS.values(), ids=VERIFIERS)


@pytest.mark.parametrize("name", NAMES)
def test_every_promised_name_is_there(name):
    assert named(name).name == name


@EVERY
def test_the_file_has_the_name_of_its_verifier(verifier):
    assert Path(verifiers.__path__[0], f"{verifier.name.replace('-', '_')}.py").is_file()


@EVERY
def test_the_file_begins_with_an_example(verifier):
    assert "\n>>> " in (sys.modules[verifier.verify.__module__].__doc__ or "")


@EVERY
def test_the_source_can_be_looked_up(verifier):
    source, _, place = re.match(r"(\w+)([,:]?) *(.*)", verifier.source).groups()
    assert source in KEYS
    assert place, "the source says where in the paper"


@EVERY
def test_declared_drafts_exist(verifier):
    assert verifier.drafts
    assert set(verifier.drafts) <= set(ALL)
    assert len(set(verifier.drafts)) == len(verifier.drafts)


def test_every_label_is_that_of_a_scheme():
    assert {scheme.label for scheme in SCHEMES.values()} == set(ALL) == set(SCHEMES)


def test_exactly_the_known_ones_are_declared_lossy():
    assert {verifier.name for verifier in VERIFIERS.values() if not verifier.lossless} == LOSSY


def test_exactly_the_rules_with_a_modified_target_keep_state():
    stateful = {"greedy-block", "hsd-naive"}
    assert {v.name for v in VERIFIERS.values() if v.carry is not None} == stateful


def test_rules_without_an_order_of_tokens_do_not_declare_one():
    """Else lanes would not run them, and relabelling would not be tested."""
    unordered = {"token", "block", "greedy-block", "hsd", "hsd-naive", "hsd-released", "hsd-multidraft"}
    unordered |= {"hsd-multidraft-released", "specinfer", "rrs", "traversal", "naive-tree", "hu-greedy"}
    unordered |= {"nss", "one-hot", "sampling-match"}
    assert not {name for name in unordered if named(name).ordered}


@EVERY
def test_verifiers_travel_between_processes(verifier):
    assert pickle.loads(pickle.dumps(verifier)) == verifier


@pytest.mark.parametrize("name", ["", "x" * 10**4, "a\nb"])
def test_unknown_names_are_refused_with_the_known_ones(name):
    with pytest.raises(BadInput) as caught:
        named(name)
    assert_one_line(caught.value, "block", "traversal")


@pytest.mark.parametrize("name", ["blok", "Block"])
def test_unknown_names_are_refused_with_the_names_like_them(name):
    with pytest.raises(BadInput) as caught:
        named(name)
    assert_one_line(caught.value, "did you mean block")
    assert "traversal" not in str(caught.value)


def test_every_citation_in_the_sources_is_in_the_references():
    cited = {}
    for folder in ("theory", "simulators"):
        for path in (ROOT / folder).rglob("*.py"):
            for key in re.findall(r"\b[a-z]+20\d\d[a-z]\w*", path.read_text(encoding="utf-8")):
                cited.setdefault(key, path.name)
    assert len(cited) >= 10
    assert {key: where for key, where in cited.items() if key not in KEYS} == {}


@EVERY
def test_the_batched_form_and_the_kernel_of_a_record_are_there(verifier):
    pytest.importorskip("torch")
    if verifier.batched:
        assert resolved(verifier.batched).rates
    if verifier.kernel:
        pytest.importorskip("triton")
        assert verifier.batched
        resolved(verifier.kernel)


OTHER_MEANINGS = {
    "token": "a JSON key, a column, a kind of record",
    "block": "a JSON key, a kind of drafter",
    "one-hot": "a scenario, a kind of proposal",
    "spechub": "a drafting scheme",
    "typical": "a declared target",
    "optimal": "a column of designs",
}
"""Names that are words too; a string of this kind may be either."""

ABOUT_THEM = {
    "gpu/bench/models.py": "what is timed beside another",
    "gpu/commands/generate.py": "what is run if nobody names a verifier",
    "simulators/study/designs.py": "the columns of a figure",
}
"""Files outside the claims that choose verifiers by name."""


def test_a_verifiers_name_is_written_in_its_own_file():
    """Elsewhere only where a claim or a figure is about it."""
    seen = {}
    for folder in ("theory", "simulators", "proofs_check", "gpu"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            where = path.relative_to(ROOT).as_posix()
            if where.startswith("proofs_check/claims/") or where in ABOUT_THEM:
                continue
            for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(each, ast.Constant) and each.value in VERIFIERS.keys() - OTHER_MEANINGS:
                    seen.setdefault(where, set()).add(each.value)
    own = {f"theory/verifiers/{name.replace('-', '_')}.py": {name} for name in VERIFIERS}
    assert {where: names for where, names in seen.items() if names != own.get(where)} == {}


TOY = '''"""Takes no draft: Y ~ p."""

from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    return draft.root, target[draft.root.prefix]


VERIFIER = Verifier("takes-none", "leviathan2023fast, its worst case", CHAIN, lossless=True, verify=verify)
'''


def test_a_new_verifier_is_one_file(tmp_path):
    """It is in `check`, `law`, `gap` and `prove` at once."""
    package = tmp_path / "draftproof"
    for each in ("theory", "simulators", "proofs_check", "docs"):
        shutil.copytree(ROOT / each, package / each, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "draftproof.py", package / "__init__.py")
    (package / "theory" / "verifiers" / "takes_none.py").write_text(TOY, encoding="utf-8")
    toy, program = str(ROOT / "docs" / "toy.json"), "import draftproof; draftproof.main()"

    def answer(*arguments):
        command = [sys.executable, "-P", "-c", program, *arguments, "--json"]
        environment = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert "takes-none" in {each["verifier"] for each in answer("check", toy)["results"]}
    assert answer("law", toy, "--verifier", "takes-none")["lossless"]
    assert answer("gap", toy)["expected_accepted"]["takes-none"] == "0"
    assert answer("prove", "takes-none", "--depth", "1")["verdict"] == "proved"
