"""The TOML file: what is filled in, and one clear line for every fault."""

import json
from pathlib import Path

import pytest

from draftproof.simulators.study.configuration import Entry, parsed, read
from draftproof.simulators.study.plan import plan
from draftproof.theory.errors import BadInput

STUDIES = Path(__file__).parents[3] / "studies"

FAULTS = {
    'metric = ["check"]': "metric: unknown key",
    'metrics = ["chek"]': "metrics: must be 'check' or 'gap', not 'chek'",
    "": "metrics: Field required",
    "metrics = [": "not TOML",
    "metrics = []": "metrics: Value should have at least 1 item",
    'verifiers = ["blok"]': "verifiers: no verifier is named 'blok'; did you mean block?",
    'verifiers = ["spechub"]': "spechub is made for spechub, not for chain",
    "drafts = 3": "drafts: must be a valid list, not 3",
    'drafts = ["chain:0"]': "drafts: draft: 'chain:0' is no draft",
    "drafts = [true]": "drafts: draft: 'true' is no draft",
    "vocabularies = [1]": "vocabularies: must be greater than or equal to 2, not 1",
    'vocabularies = [60]\ndrafts = ["chain:9"]': "vocabulary 60 and depth 9: more than",
    'rows = "randm"': "rows: Input tag 'randm' found using 'kind' does not match any of",
    'rows = {kind = "random", cout = 3}': "rows: random: cout: unknown key",
    'rows = {kind = "random", count = 1.5}': "rows: random: count: must be a valid integer, not 1.5",
    'rows = {kind = "logits", temperatures = [0]}': "logits: temperatures: must be greater than 0, not 0",
    'rows = {kind = "logits", far = 2}': "rows: logits: far: must be less than or equal to 1, not 2",
    'rows = {kind = "text"}': "rows: text: file: Field required",
    'rows = {kind = "text", file = "/none"}': "/none: no such file",
    'rows = {kind = "grid", denominator = 90}': "rows: grid: more than",
    'drafts = ["chian:2"]': "drafts: draft: 'chian:2' is no draft; did you mean chain:2?",
    'drafts = [{kind = "chain", detph = 2}]': "drafts: draft of kind 'chain': depth is missing",
    'drafts = ["tree:[1]"]': "drafts: draft: 'tree:[1]': shape must be a list",
    "[[family]]\n[[family]]\nseeds = [-1]": "family 2: seeds: must be greater than or equal to 0, not -1",
    "family = 3": "family: must be tables",
}


@pytest.mark.parametrize(("text", "said"), FAULTS.items())
def test_a_fault_is_one_line_that_names_file_and_key(command, tmp_path, text, said):
    path = tmp_path / "faulty.toml"
    path.write_text(text if "metric" in text or not text else f'metrics = ["check"]\n{text}')
    status, out, err = command("sweep", path, "--results", tmp_path / "results")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert "faulty.toml" in err
    assert not (tmp_path / "results").exists()


def test_a_family_takes_the_top_as_its_defaults():
    given = {
        "metrics": ["check"],
        "drafts": ["chain:3"],
        "family": [{"drafts": ["paths:2x1", "paths:2x2"]}, {"metrics": ["gap"]}],
    }
    first, second = parsed(given)
    assert [(draft.label, draft.depth) for draft in first.drafts] == [("paths", 1), ("paths", 2)]
    assert [(draft.label, draft.depth) for draft in second.drafts] == [("chain", 3)]
    assert (first.metrics, second.metrics) == (["check"], ["gap"])


def test_a_draft_spelled_twice_is_one():
    given = {
        "metrics": ["check"],
        "drafts": ["tree:2x1", {"kind": "tree", "shape": [[], []], "replacement": False}],
    }
    assert len(parsed(given)[0].drafts) == 1


def test_the_manifest_restores_the_entries():
    given = {
        "metrics": ["check", "gap"],
        "drafts": ["chain:2", "tree:2x2", "top-k:2x2", "paths:3x2"],
        "rows": ["random", "mixed", "grid", "scenarios", {"kind": "logits", "temperatures": [1, 2]}],
        "seeds": [0, 1],
        "vocabularies": [2],
    }
    (entry,) = parsed(given)
    again = Entry.model_validate(json.loads(json.dumps(entry.document())))
    assert again == entry
    assert list(again.families()) == list(entry.families())
    named = {(each.rows, each.seed, each.temperature, each.draft) for each in entry.families()}
    assert len(named) == 4 * (2 + 2 + 1 + 1 + 4)


def test_chunks_cover_every_instance_once():
    given = {"metrics": ["check", "gap"], "drafts": ["chain:2", "tree:2x2"], "rows": ["mixed"]}
    entries = parsed(given)
    met: dict[tuple, list[int]] = {}
    for job in plan(entries).values():
        for verifier in job.verifiers:
            key = job.metric, job.family, verifier
            met.setdefault(key, []).extend(job.indices)
    wanted = sum(len(entries[0].fitting(draft)) for draft in entries[0].drafts)
    assert len(met) == 2 * wanted
    assert all(indices == list(range(100)) for indices in met.values())


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_studies_can_be_planned(path):
    assert plan(read(path))


def test_no_metric_is_unknown_to_the_error(command, tmp_path):
    with pytest.raises(BadInput, match="'check' or 'gap'"):
        parsed({"metrics": ["zzz"]})
