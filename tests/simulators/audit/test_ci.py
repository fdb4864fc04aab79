"""The page on CI: its sampler and wrapper are audited as they stand, and faults of the sampler are found."""

import re
import sys
from pathlib import Path

import pytest

import draftproof as dp
from draftproof.simulators.audit.load import load
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain

pytest.importorskip("torch")
yaml = pytest.importorskip("yaml")
PAGE = (Path(__file__).parents[3] / "docs" / "ci.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r'```python title="([\w.]+)"\n(.*?)```', PAGE, re.S))
SMALL = {"instances": [scenario("toy", Chain(2), 2)], "edges": False, "smallest": False}
FAULTS = {
    "no temperature": ("(logits / temperature)", "logits"),
    "rows of the first request": ("draft_probs[start + i]", "draft_probs[i]"),
    "no residual": ("(p - q).clip(min=0)", "p"),
    "padded too early": ("out[request, count]", "out[request, 0]"),
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("engine", "audited"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def write(old: str = "", new: str = "") -> None:
        for name, text in FILES.items():
            assert old in FILES["engine.py"]
            Path(name).write_text(text.replace(old, new) if name == "engine.py" else text)

    return write


def test_the_page_s_sampler_is_lossless(written):
    written()
    assert dp.examine(load("audited.py:verify"), **SMALL).lossless
    assert "dp.assert_lossless(verify)" in FILES["test_sampler.py"]
    workflow = yaml.safe_load(re.search(r"```yaml[^\n]*\n(.*?)```", PAGE, re.S)[1])
    given = workflow["jobs"]["audit"]["steps"][-1]["with"]
    action = yaml.safe_load((Path(__file__).parents[3] / "action.yml").read_text())
    assert given.keys() <= action["inputs"].keys()
    assert given["targets"] == "audited.py:verify"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_sampler_is_found(written, fault):
    written(*FAULTS[fault])
    assert dp.examine(load("audited.py:verify"), **SMALL).lossless is False
