"""The verifiers in Rocq are what a program writes from their Python, and compute what the Python computes."""

import inspect
import re
from collections import defaultdict
from itertools import product
from random import Random

import pytest
from flint import fmpq

from draftproof.simulators.laws.enumerate import emission
from draftproof.theory import rows
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.verifiers import VERIFIERS
from tests.proofs_check.rocq import test_rocq
from tests.proofs_check.rocq.code import CODE, FILES, sources
from tests.proofs_check.rocq.compiled import SOURCES, coqc
from tests.proofs_check.rocq.python_to_rocq import ROWS, Refused, translated


def test_the_code_in_rocq_is_what_the_python_says():
    assert CODE.read_text() == translated(sources()), "run python -m tests.proofs_check.rocq.code"


def test_what_is_translated_is_what_runs():
    by_file = {rule.verify.__module__.rpartition(".")[2]: rule.verify for rule in VERIFIERS.values()}
    assert [by_file[name].__name__ for name in FILES] == ["verify"] * len(FILES)


# ---------- what is not translated

TOKEN = sources()["token"]
LOOP = "    for node, child in pairwise(draft.path):\n"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("itertools import pairwise", "more_itertools import windowed as pairwise", "pairwise(draft.path)"),
        ("def verify", "share = min\n\n\ndef verify", "share = min: not translated"),
        ("def verify", "def share(a, b):\n    return a\n\n\ndef verify", "a second meaning"),
        ("def verify", "@remembered\ndef verify", "not translated"),
        ("target: Rows", "target: Rows = None", "not translated"),
        ("-> Stop", "-> Node", "not translated"),
        (LOOP, "    total = child\n" + LOOP, "unbound, or None"),
        (LOOP, "    if draft.root:\n        pass\n" + LOOP, "draft.root: not translated"),
        (LOOP, "    fuel = draft.root\n" + LOOP, "a name has another meaning"),
        (LOOP, "    oracle = draft\n" + LOOP, "a name has another meaning"),
        (LOOP, "    share = draft\n" + LOOP, "a name has another meaning"),
        (
            LOOP,
            "    while draft.root.children:\n        break\n    else:\n        pass\n" + LOOP,
            "not translated",
        ),
        (LOOP, "    w, v = [], []\n    v = w\n    w.append(v)\n" + LOOP, "second name"),
        (LOOP, "    w = draft.path\n    w.append(draft.root)\n" + LOOP, "made where it is bound"),
        (LOOP, "    draft.append(draft)\n" + LOOP, "not bound"),
        (LOOP, "    draft.root.append(draft)\n" + LOOP, "not translated"),
        (
            LOOP,
            "    w = []\n    for node in reversed(w):\n        w.pop()\n" + LOOP,
            "changes within the loop",
        ),
        (LOOP, "    nodes = reversed(draft.path)\n" + LOOP, "reversed(draft.path): not translated"),
        (LOOP, "    for node in reversed(pairwise(draft.path)):\n        pass\n" + LOOP, "not translated"),
        ("share(p[x], q[x])", "share(p[x] / q[x], one(p))", "p[x] / q[x]: not translated"),
        ("share(p[x], q[x])", "share(p[x], q[x] > 0)", "q[x] > 0: not translated"),
        ("share(p[x], q[x])", "min(p[x], q[x])", "min(p[x], q[x]): not translated"),
        ("share(p[x], q[x])", "share(part=p[x], whole=q[x])", "not translated"),
        ("leaf = draft.path[-1]", "leaf = draft.path[1]", "draft.path[1]: not translated"),
        ("    return leaf, target[leaf.prefix]\n", "", "may end without a return"),
        ("return leaf, target[leaf.prefix]", "return None", "None: not translated"),
        ("excess(p, q)", "without(p, *q)", "without(p, *q): not translated"),
        ("p, q, x = target", "p, (q, x) = target", "not translated"),
        (LOOP, "    w = [one.token for child in draft.path]\n" + LOOP, "not translated"),
        (LOOP, "    if draft is None:\n        pass\n" + LOOP, "draft is None: not translated"),
        ("return leaf, target[leaf.prefix]", "return child, target[leaf.prefix]", ""),
    ],
)
def test_what_is_not_known_is_refused(old, new, words):
    assert old in TOKEN
    edited = {"token": TOKEN.replace(old, new)}
    if not words:
        assert "get child (fun child =>" in translated(edited)  # unbound where the path has no child
        return
    with pytest.raises(Refused, match=re.escape(words)) as refused:
        translated(edited)
    assert "\n" not in str(refused.value)


# ---------- row operations and laws, by both


@pytest.fixture(scope="module")
def rational(library, tmp_path_factory):
    """A folder with the translation in rational numbers, compiled."""
    folder = tmp_path_factory.mktemp("code")
    library.into(folder, "Numbers")
    (folder / "Code.v").write_text(translated(sources(), "Rational"))
    coqc(folder, "Code.v")
    return folder


def q(number):
    return f"({int(number.p)} # {int(number.q)})"


WORDS = ROWS | {"off": "off V", "positive": "positive"}
"""Every word of Rocq for an operation on rows, by its name: `off` is `without` several tokens."""


def test_every_row_operation_stands_under_its_docstring():
    files = "".join((SOURCES / f"{name}.v").read_text() for name in ("Programs", "Rules", "Python"))
    for name in WORDS.keys() - {"off"}:
        first = (inspect.getdoc(getattr(rows, name)) or "").splitlines()[0]
        assert f"(** {name}: {first} *)\nDefinition {name} " in files, name


def asked():
    """(a call in Rocq, what Python gives): random rationals, zero numbers, rows and masses among them."""
    random = Random(41)

    def number():
        return fmpq(random.choice((0, 0, 1, 2, 3, 7)), random.choice((1, 2, 5)))

    for name, _ in product(WORDS, range(40)):
        V, a, b = random.choice((1, 2, 3)), number(), number()
        row, other = (tuple(number() for _ in range(V)) for _ in range(2))
        x = random.randrange(V)
        rocq, second = (f"(row [{'; '.join(map(q, each))}])" for each in (row, other))
        texts, values = {
            "one": ((rocq,), (row,)),
            "point": ((f"{x}%nat", rocq), (x, row)),
            "total": ((rocq,), (row,)),
            "normalise": ((rocq,), (row,)),
            "excess": ((rocq, second), (row, other)),
            "scale": ((q(a), rocq), (a, row)),
            "without": ((rocq, f"{x}%nat"), (row, x)),
            "off": ((rocq, f"[{x}; {V - 1}]%nat"), (row, x, V - 1)),
            "positive": ((q(a - b),), (a - b,)),
        }.get(name, ((q(a), q(b)), (a, b)))
        call = " ".join([WORDS[name].replace("V", f"{V}%nat"), *texts])
        value = getattr(rows, {"off": "without"}.get(name, name))(*values)
        number_alone = not isinstance(value, tuple)
        yield (f"[{call}]", (value,)) if number_alone else (f"map ({call}) (seq 0%nat {V}%nat)", value)


@pytest.mark.slow
def test_row_operations_are_those_of_the_python(rational):
    calls, values = zip(*asked(), strict=True)
    text = test_rocq.HEAD + "Definition row (r : list Q) : nat -> Q := fun x => nth x r 0.\n"
    text += "".join(
        f"Eval vm_compute in map (fun x => (Qnum x, Qden x)) (map Qred ({each})).\n" for each in calls
    )
    (rational / "Rows.v").write_text(text)
    answers = re.split(r"^\s+= ", coqc(rational, "Rows.v"), flags=re.MULTILINE)[1:]
    assert len(answers) == len(values) == 40 * len(WORDS)
    for call, answer, value in zip(calls, answers, values, strict=True):
        found = re.findall(r"\((-?\d+)%?Z?, (\d+)%?\w*\)", answer.replace("\n", " "))
        assert tuple(fmpq(int(top), int(bottom)) for top, bottom in found) == tuple(value), call


RUN = "run_code {p} {q} (fun _ _ => 0) ({file}.verify {V}) {replacement} ({draft}) []"


def law_of(file, instance, i):
    """The law of what the translation emits on instance `i`, in Rocq."""
    V, p, q_, draft = instance.vocab, f"p{i}", f"q{i}", instance.draft
    replacement = "true" if getattr(draft, "replacement", False) else "false"
    if isinstance(draft, Chain):
        drawn = f"bind (draw_chain {q_} {draft.depth} []) (fun path => Return (as_children path))"
    elif isinstance(draft, Greedy):
        shape = test_rocq.shape(draft.shape)
        drawn = f"draw_greedy {V} {q_} (fun c => likeliest {V} ({q_} c)) ({shape}) []"
    elif isinstance(draft, Paths):
        drawn = f"draw_paths {q_} {draft.count} {draft.depth} []"
    else:
        drawn = f"draw {V} {q_} {replacement} ({test_rocq.shape(draft.shape)}) [] ({q_} [])"
    run = RUN.format(V=V, p=p, q=q_, file=file, replacement=replacement, draft=drawn)
    return f"Eval vm_compute in shown (law {V} ({run}))."


@pytest.mark.slow
def test_the_translation_emits_what_the_python_emits(rational):
    text, pairs = [test_rocq.HEAD.replace("Numbers.", "Numbers Code.")], []
    for i, (names, instance) in enumerate(test_rocq.instances()):
        known = [name for name in names if name.replace("-", "_") in FILES]
        if known and not isinstance(instance.draft, test_rocq.Cut):
            text += [test_rocq.table("p", i, instance.target), test_rocq.table("q", i, instance.proposal)]
            text += [law_of(name.replace("-", "_"), instance, i) for name in known]
            pairs += [(VERIFIERS[name], instance) for name in known]
    (rational / "Laws.v").write_text("\n".join(text))
    answers = re.split(r"^\s+= ", coqc(rational, "Laws.v"), flags=re.MULTILINE)[1:]
    assert len(answers) == len(pairs) >= 100
    for (rule, instance), answer in zip(pairs, answers, strict=True):
        found = defaultdict(fmpq)
        for word, top, bottom in test_rocq.words(answer):
            found[word] += fmpq(top, bottom)
        want = dict(emission(instance, rule).law())
        assert {w: mass for w, mass in found.items() if mass} == {w: m for w, m in want.items() if m}
