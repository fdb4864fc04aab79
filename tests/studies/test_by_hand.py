"""The witnesses of docs/field.md, computed without draftproof, are the page's."""

import re
import runpy
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
PAGE = (HOUSE / "docs/field.md").read_text(encoding="utf-8")
WITNESSES = runpy.run_path(str(HOUSE / "studies/field/by_hand.py"))["WITNESSES"]


@pytest.mark.parametrize("name", WITNESSES)
def test_a_witness_is_what_the_faulty_rule_gives(name):
    found, page = WITNESSES[name]
    assert found == page
    assert str(page) in PAGE or f"{float(page):.4f}" in PAGE


NAMES = {
    "csaq_quant": "csaq-quant",
    "self_speculative": "self-speculative",
    "recurrent_drafter": "recurrent-drafter",
    "sps_specdec": "SpS-SpecDec",
    "spec_rl": "SPEC-RL",
    "sequential": "sequential-speculative-decoding",
    "tightwad_proxy": "tightwad",
    "gemma4": "Gemma 4",
    "hass": "HASS",
    "samd": "SAM-Decoding",
    "spec_bench": "Spec-Bench",
    "vllm_ascend_sampler": "vllm-ascend",
    "vllm_budget": "vLLM's budget",
    "vllm_grammar": "vLLM, a draft cut",
}
"""The names in WITNESSES of the files of studies/field/ that are called otherwise."""

BY_ONE_RULE = {"medusa.py:typical"}  # every draft is accepted: nothing to compute


def red_rows():
    for match in re.finditer(r"`(\w+)(\.py[^` ]*)[^`]*` \| not lossless", PAGE):
        yield match[1], match[1] + match[2]


def test_every_red_row_has_a_witness_in_fractions():
    lacks = [
        row
        for study, row in red_rows()
        if row not in BY_ONE_RULE
        and not any(NAMES.get(study, study).lower() in name.lower() for name in WITNESSES)
    ]
    assert len({*red_rows()}) > 35
    assert lacks == []


def test_every_red_row_names_a_caller():
    faults = PAGE[PAGE.index("## Faults") : PAGE.index("## Calls that fail")]
    rows = [line for line in faults.splitlines() if line.startswith("| ") and "| project" not in line]
    rows = [cells for row in rows if not (cells := row.split("|"))[1].startswith(" ---")]
    assert [row[1] for row in rows if not re.search(r"[\w( ]:\d+|^ the same,", row[2])] == []
