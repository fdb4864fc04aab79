"""No false alarms: the project's lossless verifiers behind the door for foreign functions."""

import pytest

from draftproof.simulators.audit.judge.exact import case
from draftproof.simulators.audit.judge.examine import examine
from draftproof.simulators.audit.sandbox import sandboxed
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.laws.check import applies
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.verifiers import VERIFIERS, named
from tests.problems import SCHEMES, TOY
from tests.simulators.audit.foreign import good
from tests.simulators.audit.own import Own

LOSSLESS = [verifier for verifier in VERIFIERS.values() if verifier.lossless]


def alarms(verifier, instances):
    """The instances on which a lossless verifier is called biased."""
    rounds = 1 if verifier.carry is None else 2
    found = []
    for instance in instances:
        with sandboxed() as sandbox:
            if not case(Own(verifier, instance), sandbox, instance, rounds).lossless:
                found.append(instance)
    return found


@pytest.mark.parametrize("verifier", LOSSLESS, ids=lambda each: each.name)
@pytest.mark.sampled(4)
def test_no_alarm_on_a_few_instances(verifier):
    for scheme in SCHEMES.values():
        instances = Randoms(scheme, 2, 3)
        if applies(verifier, instances[0]):
            assert not alarms(verifier, instances)


@pytest.mark.slow
def test_no_alarm_on_a_thousand_random_instances():
    # Each instance is given to every lossless verifier that is made for its draft.
    judged, met = 0, set()
    for instance in _thousand():
        applicable = [verifier for verifier in LOSSLESS if applies(verifier, instance)]
        for verifier in applicable:
            assert not alarms(verifier, [instance]), (verifier.name, instance.name)
        met |= {verifier.name for verifier in applicable}
        judged += bool(applicable)
    assert judged == 1000
    assert met == {verifier.name for verifier in LOSSLESS}


def _thousand():
    schemes = SCHEMES.values()
    for n, scheme in enumerate(schemes):
        yield from Randoms(scheme, 2, len(range(n, 1000, len(schemes))), seed=11)


@pytest.mark.slow
@pytest.mark.parametrize(("vocab", "depth"), [(2, 1), (3, 1), (2, 2), (3, 2)])
def test_no_alarm_on_two_thousand_instances_of_a_function(vocab, depth):
    instances = list(Randoms(Chain(depth), vocab, 500, seed=20))
    report = examine(good, instances=instances, edges=False)
    assert report.lossless
    assert report.instances == 500


@pytest.mark.slow
@pytest.mark.parametrize("name", ["token", "block", "traversal", "hsd", "rrs"])
def test_no_alarm_on_scenarios(name):
    assert not alarms(named(name), Scenarios(Chain(2), 3))


def test_a_lossy_one_is_found():
    assert alarms(named("hsd-released"), [TOY])
