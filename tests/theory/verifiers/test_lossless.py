"""Every verifier on every scheme it is made for: what is declared is what comes out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.theory.verifier import ALL
from draftproof.theory.verifiers import VERIFIERS
from tests.checks import assert_lossless, is_lossy
from tests.problems import SCHEMES
from tests.strategies import instances

LOSSLESS = [verifier for verifier in VERIFIERS.values() if verifier.lossless]
LOSSY = [verifier for verifier in VERIFIERS.values() if not verifier.lossless]


def pairs(verifiers):
    return [pytest.param(v, label, id=f"{v.name}, {label}") for v in verifiers for label in v.drafts]


@pytest.mark.parametrize("label", ALL)
@settings(max_examples=60)
@given(data=st.data())
def test_on_random_instances(label, data):
    instance = data.draw(instances(label))
    for verifier in LOSSLESS:
        if label in verifier.drafts:
            assert_lossless(instance, verifier)


@pytest.mark.parametrize("vocab", [2, 3])
@pytest.mark.parametrize(("verifier", "label"), pairs(LOSSLESS))
def test_under_every_scenario(verifier, label, vocab):
    for instance in Scenarios(SCHEMES[label], vocab):
        assert_lossless(instance, verifier)


@pytest.mark.parametrize(("verifier", "label"), pairs(LOSSY))
def test_some_scenario_shows_every_loss(verifier, label):
    assert any(is_lossy(instance, verifier) for instance in Scenarios(SCHEMES[label], 2))


@pytest.mark.parametrize("label", ALL)
def test_every_scheme_has_a_lossless_verifier_and_every_verifier_a_scheme(label):
    assert any(label in verifier.drafts for verifier in LOSSLESS)
    assert SCHEMES[label].label == label
