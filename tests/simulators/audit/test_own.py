"""No false alarms: the project's lossless verifiers behind the door for foreign functions."""

from collections import defaultdict

import pytest

from simulators.audit.door import watched
from simulators.audit.own import Own
from simulators.audit.case import case
from simulators.check import applies
from simulators.instances.randoms import Randoms
from simulators.instances.scenarios import Scenarios
from tests.problems import SCHEMES, TOY
from theory.drafts.chain import Chain
from theory.verifiers import VERIFIERS, named

LOSSLESS = [verifier for verifier in VERIFIERS.values() if verifier.lossless]


def alarms(verifier, instances):
    """The instances on which a lossless verifier is called biased."""
    rounds = 1 if verifier.carry is None else 2
    found = []
    for instance in instances:
        with watched() as watch:
            if not case(Own(verifier, instance), watch, instance, rounds).lossless:
                found.append(instance)
    return found


@pytest.mark.parametrize("verifier", LOSSLESS, ids=lambda each: each.name)
def test_no_alarm_on_a_few_instances(verifier):
    for scheme in SCHEMES.values():
        instances = Randoms(scheme, 2, 3)
        if applies(verifier, instances[0]):
            assert not alarms(verifier, instances)


@pytest.mark.slow
def test_no_alarm_on_a_thousand_random_instances():
    counted = defaultdict(int)
    for verifier in LOSSLESS:
        for scheme in SCHEMES.values():
            instances = Randoms(scheme, 2, 25, seed=11)
            if applies(verifier, instances[0]):
                assert not alarms(verifier, instances), verifier.name
                counted[verifier.name] += len(instances)
    assert set(counted) == {verifier.name for verifier in LOSSLESS}
    assert sum(counted.values()) >= 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["token", "block", "traversal", "hsd", "rrs"])
def test_no_alarm_on_scenarios(name):
    assert not alarms(named(name), Scenarios(Chain(2), 3))


def test_a_lossy_one_is_found():
    assert alarms(named("hsd-released"), [TOY])
