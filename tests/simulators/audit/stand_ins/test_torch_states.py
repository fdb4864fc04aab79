"""States of torch's generators: coins that come again are found, and those that do not are not accused."""

import copy
import time

import pytest

torch = pytest.importorskip("torch")

from draftproof.simulators import audit  # noqa: E402
from draftproof.simulators.instances.scenarios import scenario  # noqa: E402
from draftproof.theory.drafts.chain import Chain  # noqa: E402
from tests.simulators.audit.stand_ins.test_states import token  # noqa: E402

SMALL = {"instances": [scenario("toy", Chain(1), 2)], "edges": False, "smallest": False, "runs": 0}
MADE, KEPT = torch.Generator(), []


def coin(generator=None):
    return torch.rand(1, generator=generator)[0]


def seed():
    return int(torch.randint(2**31, (1,)))


def seeded():
    return torch.Generator().manual_seed(seed())


def examined(coins):
    """The report on token verification that takes its coins from `coins()`, which is made in every call."""

    def verify(p, q, x):
        return token(p.numpy(), q.numpy(), x, coins())

    return audit.examine(audit.Function(verify, tensors=True), **SMALL)


def restored():
    state = torch.get_rng_state()

    def again():
        torch.set_rng_state(state)
        return coin()

    return again


def forked():
    def again():
        with torch.random.fork_rng(devices=[]):
            return coin()

    return again


def initial():
    torch.manual_seed(torch.initial_seed())
    return coin


def object_restored():
    generator = seeded()
    state = generator.get_state()

    def again():
        generator.set_state(state)
        return coin(generator)

    return again


def clones():
    generator = seeded()
    other = generator.clone_state()
    draws = [generator, other]
    return lambda: coin(draws.pop())


def copies():
    generator = seeded()
    return lambda: coin(copy.deepcopy(generator))


def further_in_a_vector():
    generator = seeded()
    state = generator.get_state()
    coins = [torch.rand(4, generator=generator)[1]]
    generator.set_state(state)
    coin(generator)
    return lambda: coins.pop() if coins else coin(generator)


def two_of_one_seed():
    k = seed()
    torch.manual_seed(k)
    draws = [None, torch.Generator().manual_seed(k)]
    return lambda: coin(draws.pop())


def kept_state():
    KEPT.append(torch.get_rng_state())
    torch.set_rng_state(KEPT[0])
    return coin


def seeded_at_the_end():
    coins = [coin(), coin()]
    torch.manual_seed(0)
    return coins.pop


@pytest.mark.parametrize(
    "coins",
    [
        restored,
        forked,
        initial,
        object_restored,
        clones,
        copies,
        further_in_a_vector,
        two_of_one_seed,
        kept_state,
        seeded_at_the_end,
    ],
)
@pytest.mark.sampled(3)
def test_coins_that_come_again_are_found(coins):
    report = examined(coins)
    assert report.lossless is False, report


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.sampled(2)
def test_a_seed_that_was_set_before_the_audit_hides_none(seed):
    torch.manual_seed(seed)
    assert examined(seeded_at_the_end).lossless is False
    assert examined(lambda: coin).lossless


def put_back():
    state = torch.get_rng_state()
    coin()
    torch.set_rng_state(state)
    return coin


def forked_once():
    with torch.random.fork_rng(devices=[]):
        coin()
    return coin


def seed_and_step():
    k, steps = seed(), iter(range(9))
    return lambda: coin(torch.Generator().manual_seed(k + next(steps)))


def one_clone():
    generator = torch.default_generator.clone_state()
    return lambda: coin(generator)


def by_the_clock():
    torch.manual_seed(time.time_ns() % 2**40)
    return coin


def vector_then_more():
    generator = seeded()
    coins = [torch.rand(2, generator=generator)[1]]
    return lambda: coins.pop() if coins else coin(generator)


def goes_on():
    return lambda: coin(MADE)


@pytest.mark.parametrize(
    "coins", [put_back, forked_once, seed_and_step, one_clone, by_the_clock, vector_then_more, goes_on]
)
@pytest.mark.sampled(3)
def test_coins_that_are_drawn_once_are_not_accused(coins):
    report = examined(coins)
    assert report.lossless, report


@pytest.mark.parametrize(
    "second",
    [
        lambda g, row: torch.multinomial(row, 1, generator=g),
        lambda g, row: (row / torch.empty(2).exponential_(generator=g)).argmax(),
        lambda g, row: torch.randint(2, (1,), generator=g),
    ],
)
def test_two_functions_on_one_state_are_undecided(second):
    def verify(p, q, x):
        generator = seeded()
        state = generator.get_state()
        kept = coin(generator) * q[0, x[0]] < p[0, x[0]]
        generator.set_state(state)
        row = p[1] if kept else (p[0] - q[0]).clamp(min=0)
        return [*x[: int(kept)], int(second(generator, row))]

    report = audit.examine(audit.Function(verify, tensors=True), **SMALL)
    assert report.lossless is None, report
    assert "from the same state" in report.undecided
