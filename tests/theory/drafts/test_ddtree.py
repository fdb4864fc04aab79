"""DDTree's tree is that of the likeliest prefixes, found by looking at all of them."""

from itertools import product
from math import prod

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.files import parse
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.ddtree import DDTree
from draftproof.theory.drafts.names import scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named
from tests.strategies import rows


def table(by_depth):
    return Table(3, {x: row for d, row in enumerate(by_depth) for x in product(range(3), repeat=d)})


def likeliest(q, nodes, depth):
    """All prefixes of positive probability, the likeliest first; of equals the shorter, then by tokens."""
    every = [x for d in range(1, depth + 1) for x in product(range(3), repeat=d)]
    reach = {x: prod((q[x[:i]][y] for i, y in enumerate(x)), start=fmpq(1)) for x in every}
    return sorted((x for x in every if reach[x] > 0), key=lambda x: (-reach[x], len(x), x))[:nodes]


@given(st.lists(rows(3), min_size=3, max_size=3), st.integers(3, 14))
def test_the_tree_has_the_likeliest_prefixes(by_depth, nodes):
    q = table(by_depth)
    drafted = [node.prefix for node in DDTree(nodes, 3).draw(None, q).root][1:]
    assert sorted(drafted) == sorted(likeliest(q, nodes, 3))


@given(st.lists(rows(3), min_size=3, max_size=3))
def test_children_stand_likeliest_first(by_depth):
    q = table(by_depth)
    for node in DDTree(10, 3).draw(None, q).root:
        masses = [node.proposal[child.token] for child in node.children]
        assert masses == sorted(masses, reverse=True)


def test_nss_reaches_the_bound_of_a_deterministic_tree_and_ratios_of_q_lose_the_law():
    for instance in Randoms(DDTree(4, 3), 3, 20):
        found = emission(instance, named("nss"))
        nodes = list(instance.draft.draw(None, instance.proposal).root)[1:]
        p = instance.target
        reach = [prod((p[n.prefix[:i]][x] for i, x in enumerate(n.prefix)), start=fmpq(1)) for n in nodes]
        assert found.total_variation == 0
        assert found.expected_accepted == sum(reach, fmpq(0))
    assert any(emission(each, named("rrs")).total_variation > 0 for each in Randoms(DDTree(4, 3), 3, 5))


def test_it_is_drawn_after_a_context():
    q = Table.exact(2, {(): ["3/4", "1/4"], (1,): ["1/4", "3/4"]})
    assert [node.prefix for node in DDTree(2, 2).draw(None, q, (1,)).root] == [(1,), (1, 1), (1, 1, 1)]


def test_it_is_a_kind_of_instance_files():
    text = '{"vocab": 2, "target": {"": [1, 0]}, "proposal": [["1/2", "1/2"], [1, 0]], "draft": "ddtree:3x2"}'
    read = parse(text)
    assert read.draft == scheme("ddtree:3x2") == DDTree(3, 2)
    assert [read.proposal[x] for x in ((), (0,), (1,))] == [(fmpq(1, 2), fmpq(1, 2)), (1, 0), (1, 0)]


@pytest.mark.parametrize(
    ("proposal", "part"),
    [
        ("[]", "a list must hold a row for each depth"),
        ("[1]", "a list must hold a row for each depth"),
        ('[["1/2", "1/3"]]', "sums to 5/6"),
        ('[[1, 0], ["1/2", "1/2", "0"]]', "has 3 entries"),
    ],
)
def test_faults_of_a_product_law(proposal, part):
    with pytest.raises(BadInput, match=part):
        parse('{"vocab": 2, "target": {"": [1, 0]}, "proposal": ' + proposal + ', "draft": "chain:2"}')


def test_faults():
    with pytest.raises(BadInput, match="2 nodes cannot be 3 deep"):
        DDTree(2, 3)
    assert list(DDTree(2, 2).smaller()) == [DDTree(1, 1), DDTree(2, 1)]
