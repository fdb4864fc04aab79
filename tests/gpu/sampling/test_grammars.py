"""The grammar of docs/grammars.md: texts are what its schema allows, and the law is that of masked rows."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("llguidance")

import torch

from draftproof.gpu.drafters.choose import SHIPPED, pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import texts
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from tests.gpu.parameters import processors

PAGE = Path(__file__).parents[3] / "docs" / "grammars.md"


@pytest.fixture(scope="module")
def answer():
    """The processor that the page makes."""
    code = re.search(r"```python[^\n]*\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    made = {}
    exec(code.replace("gpu/pair/target", str(SHIPPED / "target")), made)
    return made["answer"]


@pytest.mark.parametrize(("draft", "verifier"), [("chain:4", "block"), ("tree:2x2", "traversal")])
def test_texts_are_what_the_schema_allows(answer, draft, verifier):
    target, drafter = pair(None, None, "cpu")
    prompts = [target.tokenizer.encode(text) for text in ("x = ", "import os\n") * 8]
    sampling = Sampling(processors=processors(logits_processor=[answer], logit_bias={0: 9.0}))
    how = {"verifier": named(verifier), "structure": structure(draft), "max_new_tokens": 64}
    steps = list(generate(target, drafter, prompts, sampling=sampling, **how))
    found = texts(steps, 16)
    ended = [target.tokenizer.decode(ids[:-1]) for ids in found if ids[-1] in target.ends]
    assert ended
    assert {json.loads(text)["on"] for text in ended} <= {True, False}
    for ids in found:
        ids = ids[:-1] if ids[-1] in target.ends else ids  # its grammar has no end token
        assert answer.matcher.deep_copy().try_consume_tokens(ids) == len(ids)
    assert sum(sum(step.accepted) for step in steps) > 0


def test_a_prefix_that_the_grammar_refuses_leaves_rows_as_they_are(answer):
    scores = torch.zeros(2, 1030)
    refused = answer(torch.tensor([[5, 5], [93, 93]]), scores)
    opened = answer(torch.zeros(2, 0).long(), scores)
    assert (refused == 0).all()
    assert 0 < (opened[0] == 0).sum() < 20
    assert torch.equal(opened[0], opened[1])
