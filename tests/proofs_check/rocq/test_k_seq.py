"""The plans of K-SEQ in Rocq are what the Python's plans are."""

import re

import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.rows import scale
from draftproof.theory.verifiers import k_seq, lifted_k_seq
from tests.proofs_check.rocq.compiled import coqc
from tests.proofs_check.rocq.test_code import q
from tests.proofs_check.rocq.test_rocq import HEAD

VOCAB = 3
SHAPES = ((),), ((), ()), ((), (), ())
RATES = fmpq(1), fmpq(2, 5), fmpq(0)


def asked():
    """(Rocq's numbers, what Python gives): what is left of a row, then each draft's rates or shares."""
    for shape in SHAPES:
        k = len(shape)
        for instance in Randoms(Tree(shape, True), VOCAB, 4):
            for rate in RATES:
                t, proposal = scale(rate, instance.target[()]), instance.proposal[()]
                rows = " ".join(f"(fun x => nth x [{'; '.join(map(q, row))}] 0)" for row in (t, proposal))
                every = [draft for _, draft in drafts(instance)]
                for module, name, steps in ((k_seq, "k_seq", ()), (lifted_k_seq, "lifted_k_seq", (2**40,))):
                    rho = q(k_seq.smallest_rho(t, proposal, k, *steps))
                    arguments = f"{rho} {rows} {k}%nat"
                    plans = [(draft.root, module.planned(draft, draft.root, t)) for draft in every]
                    yield f"map ({name}_left {VOCAB}%nat {arguments}) (seq 0 {VOCAB})", plans[0][1].left
                    for node, plan in plans:
                        drawn = f"[{'; '.join(str(child.token) for child in node.children)}]%nat"
                        if module is k_seq:
                            text = (
                                f"map (fun '(rate, x) => rate x) (combine (k_seq_rates {arguments}) {drawn})"
                            )
                            yield text, [rate for _, rate in plan.judged(node)]
                        else:
                            text = f"in_turn (lifted_k_seq_rates {VOCAB}%nat {arguments}) {drawn} 1"
                            yield text, [share for _, share in plan.shares(node)]


@pytest.mark.slow
def test_the_plans_are_those_of_the_python(library, tmp_path):
    library.into(tmp_path, "Numbers")
    calls, values = zip(*asked(), strict=True)
    text = HEAD + "".join(
        f"Eval vm_compute in map (fun x => (Qnum x, Qden x)) (map Qred ({each})).\n" for each in calls
    )
    (tmp_path / "Plans.v").write_text(text)
    answers = re.split(r"^\s+= ", coqc(tmp_path, "Plans.v"), flags=re.MULTILINE)[1:]
    assert len(answers) == len(values) >= 500
    for call, answer, value in zip(calls, answers, values, strict=True):
        found = re.findall(r"(-?\d+)%?Z?,\s+(\d+)", answer.partition(":")[0])
        assert [fmpq(int(top), int(bottom)) for top, bottom in found] == list(value), call
