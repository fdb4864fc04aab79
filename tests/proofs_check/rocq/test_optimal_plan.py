"""The plan of which `optimal_reaches_alpha` is proved computes what the Python's does, order by order."""

import re
from itertools import islice

import pytest
from flint import fmpq

from draftproof.theory.verifiers.shared import optimal as plans
from studies.optimum_search import BROKEN, RIGHT, edited, random_nodes
from tests.proofs_check.rocq.compiled import coqc

NODES = 40
HEAD = """Require Import List QArith Programs Rules Numbers.
Import ListNotations RationalPrograms.
Definition row_of (masses : list Q) : row := fun x => nth x masses 0.
Definition shown (found : option (list (Q * list nat))) :=
  option_map (map (fun '(chance, order) => (Qnum chance, Qden chance, order))) found.
"""


def masses(row):
    return f"[{'; '.join(f'{int(x.p)} # {int(x.q)}' for x in row)}]"


def chances(answer):
    """The law of orders that Rocq prints."""
    plain = re.sub(r"%(nat|Z|positive)|\s", "", answer)
    assert plain.startswith("Some"), plain  # a loop that has not ended gives None
    return [
        (tuple(map(int, order.split(";"))), fmpq(int(top), int(bottom)))
        for top, bottom, order in re.findall(r"\((\d+),(\d+),\[([\d;]*)\]\)", plain)
    ]


@pytest.mark.slow
def test_the_plan_is_that_of_the_python(library, tmp_path):
    library.into(tmp_path, "Numbers")
    small = (
        node
        for node in random_nodes(4, 4000)
        if max(mass.q for row in (node[0], *node[1]) for mass in row) < 20
    )
    long = (node for node in small if len(plans.optimal(*node).chances) == 5)
    nodes = [*random_nodes(3, NODES), *islice(long, 3)]
    text = [HEAD]
    for t, laws in nodes:
        rows = "; ".join(f"row_of {masses(R)}" for R in laws)
        text.append(f"Eval vm_compute in shown (optimal_orders {len(t)} [{rows}] (row_of {masses(t)}) 40).")
    (tmp_path / "Plans.v").write_text("\n".join(text))
    answers = re.split(r"^\s+= ", coqc(tmp_path, "Plans.v"), flags=re.MULTILINE)[1:]
    found = [chances(answer.split("\n     : ")[0]) for answer in answers]
    assert found == [list(plans.optimal(*node).chances.items()) for node in nodes]
    assert max(map(len, found)) == 5
    for name in ("at most 4 orders", "orders by lead / t", "no order goes"):
        assert found != of_edited(nodes, BROKEN[name]), name
    for name in ("pi is one", "ties the other way", "begun with the worst order"):
        assert found != of_edited(nodes, RIGHT[name]), name  # as good a plan, but another


def of_edited(nodes, edit):
    """The laws of orders of an edited plan; None of a node whose plan it does not find in 30 steps."""
    code = edited(edit)
    nearest, left = code["nearest"], [0]

    def counted(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise ArithmeticError
        return nearest(*arguments)

    code["nearest"] = counted

    def planned(node):
        left[0] = 30
        try:
            return list(code["optimal"](*node).chances.items())
        except ArithmeticError:
            return None

    return [planned(node) for node in nodes]
