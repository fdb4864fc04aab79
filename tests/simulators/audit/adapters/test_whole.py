"""`generate` of transformers with an assistant, whole, on tables that are real models."""

import json
import os
import sys
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

from draftproof.simulators import audit
from draftproof.simulators.audit import load
from draftproof.simulators.audit.targets import loops, models
from draftproof.simulators.instances.files import document
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers", "5")

FIELD = Path(__file__).parents[4] / "studies/field"
ENGINE = FIELD / "transformers_generate.py"
OF_CONTEXT = Instance(
    Table.exact(2, {(): ["1/2", "1/2"], (0,): ["1/4", "3/4"], (1,): ["3/4", "1/4"]}),
    Table.exact(2, {(): ["3/4", "1/4"]}),
    Chain(1),
)
ONE: Any = {"edges": False, "smallest": False}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["generate", "looked_up"])
def test_the_installed_engine_is_lossless(name):
    target = load.target(load.Subject(f"{ENGINE}:{name}", "loop"))
    report = audit.examine(target, instances=[OF_CONTEXT], **ONE)
    assert (report.lossless, report.tokens) == (True, 2), report
    assert ("drafts nothing" in report.found) == (name == "looked_up")


@pytest.mark.slow
def test_an_assistant_of_gemma_4_is_not(monkeypatch):
    """Its drafts are greedy, and are verified with the rows of its softmax."""
    for module in (loops, models):
        monkeypatch.setattr(module, "PROMPT", module.PROMPT)  # the study changes it
    target = load.target(load.Subject(f"{FIELD}/gemma4.py:generate", "loop"))
    report = audit.examine(target, instances=[scenario("toy", Chain(1), 2)], **ONE)
    assert report.lossless is False
    assert report.wrong is not None
    assert (report.wrong.prefix, float(report.wrong.got)) == ((0, 0), pytest.approx(1 / 6))


@pytest.mark.slow
def test_a_loop_that_drafts_nothing_is_a_finding():
    def plain(target, draft, prompt, length, gamma):
        text = target.pretrained().generate(prompt, do_sample=True, max_new_tokens=length)
        return text[0, prompt.shape[1] :]

    report = audit.examine(audit.Loop(plain), instances=[OF_CONTEXT], **ONE)
    assert report.lossless
    assert "drafts nothing" in report.found


@pytest.mark.slow
def test_a_table_is_a_model_whose_cache_holds_the_text():
    import torch

    from draftproof.simulators.audit.targets.models import Model

    table = Table.exact(2, {(): ["1/4", "3/4"], (0,): ["1/4", "3/4"], (1,): [1, 0]})
    model = Model(table, torch.float64).pretrained(max_new_tokens=3)
    assert isinstance(model, transformers.PreTrainedModel)
    text = model.generate(torch.zeros(1, 2, dtype=torch.int64), do_sample=False)
    assert text.tolist() == [[0, 0, 1, 0, 1]]


def copied(folder: Path, file: str, old: str, new: str) -> Path:
    """A folder with transformers as installed, but for one line of one file."""
    package = Path(transformers.__file__).parent
    made = folder / "transformers"
    for part in ("", "generation"):
        (made / part).mkdir()
        for each in (package / part).iterdir():
            if each.name not in ("generation", "__pycache__"):
                (made / part / each.name).symlink_to(each)
    text = (package / "generation" / file).read_text()
    assert text.count(old) == 1
    (made / "generation" / file).unlink()
    (made / "generation" / file).write_text(text.replace(old, new))
    return folder


AUDIT = """
import sys
from draftproof.simulators import audit
from draftproof.simulators.audit import load
from draftproof.simulators.instances.files import parse

target = load.target(load.Subject(sys.argv[1], "loop"))
given = [parse(sys.argv[2])]
print(audit.examine(target, instances=given, edges=False, smallest=False).lossless)
"""

FAULTS = {
    "nothing": ("utils.py", "    # 4.2. Discard past", "    # 4.2. Discard the past"),
    "whole rows after a rejection": (
        "utils.py",
        "p_prime = torch.clamp((p_n_plus_1 - q_n_plus_1), min=0)",
        "p_prime = p_n_plus_1.clone()",
    ),
    "a cache that keeps rejected tokens": (
        "utils.py",
        "number_of_tokens_to_crop = candidate_length - n_matches",
        "number_of_tokens_to_crop = 0",
    ),
    "greedy drafts": (
        "candidate_generator.py",
        "self.generation_config = copy.deepcopy(generation_config)\n\n",
        "self.generation_config = copy.deepcopy(generation_config)\n"
        "        self.generation_config.do_sample = False\n\n",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_copy_with_a_fault_is_refused(tmp_path, fault):
    folder = copied(tmp_path, *FAULTS[fault])
    given, space = (
        [f"{ENGINE}:generate", json.dumps(document(OF_CONTEXT))],
        {**os.environ, "PYTHONPATH": str(folder)},
    )
    done = run([sys.executable, "-c", AUDIT, *given], capture_output=True, text=True, timeout=300, env=space)
    assert done.stdout.split() == ["True" if fault == "nothing" else "False"], done.stderr
