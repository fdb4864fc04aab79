"""Fuzzed instance files against an enumeration that shares no code with the product.

A third of the files are broken on purpose. Verifiers are written here a second time, on fractions.
"""

import json
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from draftproof.simulators.instances.files import parse
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.errors import BadInput
from draftproof.theory.verifiers import named

FILES = 2_000


def row_of(table, prefix):
    while " ".join(map(str, prefix)) not in table:
        prefix = prefix[1:]
    return [Fraction(str(x)) for x in table[" ".join(map(str, prefix))]]


def residual(p, q, scale):
    left = [max(scale * a - b, Fraction(0)) for a, b in zip(p, q, strict=True)]
    return [x / sum(left) for x in left] if sum(left) else p


def token(ps, qs, draft, V):
    """Word -> probability, given the draft: accepted while u < p/q, then the residual's token."""
    kept, out = Fraction(1), []
    for i, x in enumerate(draft):
        a = min(Fraction(1), ps[i][x] / qs[i][x])
        out += [((*draft[:i], y), kept * (1 - a) * r) for y, r in enumerate(residual(ps[i], qs[i], 1))]
        kept *= a
    return [*out, *(((*draft, y), kept * r) for y, r in enumerate(ps[-1]))]


def block(ps, qs, draft, V):
    """Block verification: the longest accepted prefix by its own coin, weights cut at 1."""
    w, out, longest = [Fraction(1)], [], Fraction(1)
    for i, x in enumerate(draft):
        w.append(min(Fraction(1), w[-1] * ps[i][x] / qs[i][x]))
    for i in range(len(draft), -1, -1):
        if i == len(draft):
            h = w[i]
        else:
            s = sum(max(w[i] * a - b, Fraction(0)) for a, b in zip(ps[i], qs[i], strict=True))
            h = s / (s + 1 - w[i]) if s + 1 - w[i] else Fraction(1)
        last = ps[-1] if i == len(draft) else residual(ps[i], qs[i], w[i])
        out += [((*draft[:i], y), longest * (h if i else 1) * r) for y, r in enumerate(last)]
        longest *= 1 - h
    return out


def unscaled(ps, qs, draft, V):
    """Naive verification that draws from p where the draft is rejected: lossy."""
    kept, out = Fraction(1), []
    for i, x in enumerate(draft):
        a = min(Fraction(1), ps[i][x] / qs[i][x])
        out += [((*draft[:i], y), kept * (1 - a) * r) for y, r in enumerate(ps[i])]
        kept *= a
    return [*out, *(((*draft, y), kept * r) for y, r in enumerate(ps[-1]))]


def enumerated(document, rule):
    """(total variation of the completed law, E[tau])."""
    V, depth, law, tau = document["vocab"], document["draft"]["depth"], {}, Fraction(0)
    p, q = document["target"], document["proposal"]
    for draft in product(range(V), repeat=depth):
        qs = [row_of(q, draft[:i]) for i in range(depth)]
        mass = Fraction(1)
        for i, x in enumerate(draft):
            mass *= qs[i][x]
        if mass:
            for word, share in rule([row_of(p, draft[:i]) for i in range(depth + 1)], qs, draft, V):
                law[word] = law.get(word, 0) + mass * share
    got = dict.fromkeys(product(range(V), repeat=depth + 1), Fraction(0))
    want = dict(got)
    for word, mass in law.items():
        tau += mass * (len(word) - 1)
    for longer in got:
        one = Fraction(1)
        after = [one] + [one := one * row_of(p, longer[:i])[longer[i]] for i in range(depth + 1)]
        want[longer] = after[-1]
        for n in range(1, depth + 2):
            rest = Fraction(1)
            for i in range(n, depth + 1):
                rest *= row_of(p, longer[:i])[longer[i]]
            got[longer] += law.get(longer[:n], 0) * rest
    return sum(abs(got[word] - want[word]) for word in got) / 2, tau


def numbers(random, V):
    weights = [random.choice([0, 0, 1, 1, 2, 3, 7]) for _ in range(V)]
    weights[random.randrange(V)] += 1
    kind = random.randrange(3)
    if kind == 0 and sum(weights) in (1, 2, 4, 5, 8, 10):
        return [float(Fraction(x, sum(weights))) for x in weights]
    return [f"{x}/{sum(weights)}" for x in weights]


def drawn(random):
    V, depth = random.choice([(2, 1), (2, 2), (3, 1), (2, 3), (3, 2)])
    shown = [" ".join(map(str, x)) for n in range(depth + 1) for x in product(range(V), repeat=n)]

    def table(most):
        keys = [x for x in shown if len(x.split()) <= most and (not x or random.random() < 0.6)]
        return {key: numbers(random, V) for key in keys}

    return {
        "vocab": V,
        "target": table(depth),
        "proposal": table(depth - 1),
        "draft": {"kind": "chain", "depth": depth},
    }


def broken(document, random):
    """The text with one fault that no reader may overlook."""
    key = random.choice(["target", "proposal"])
    faults = [
        lambda d: d.update(vocab=random.choice([0, -1, 2.5, "2", None, True, 10**9])),
        lambda d: d.pop(random.choice(list(d))),
        lambda d: d[key].pop(""),
        lambda d: d[key][""].append("0"),
        lambda d: d[key][""].__setitem__(
            0, random.choice(["2", "-1/3", "x", "1/0", None, [], "NaN", "1e99999"])
        ),
        lambda d: d[key].__setitem__(random.choice(["9", "0  1", " 0", "a", "-1"]), d[key][""]),
        lambda d: d.update(more=1),
        lambda d: d["draft"].update(depth=random.choice([0, -1, "x", None, 10**6])),
        lambda d: d["draft"].update(kind=random.choice(["oak", None, 3, []])),
    ]
    random.choice(faults)(document)
    return json.dumps(document)


RULES = {"token": token, "block": block}


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 10))])
def test_verdicts_are_those_of_another_enumeration(part):
    random, valid, lossy = Random(part), 0, 0
    for _ in range(FILES // 10):
        document = drawn(random)
        if random.random() < 1 / 3:
            with pytest.raises(BadInput):
                parse(broken(document, random))
            continue
        valid += 1
        instance = parse(json.dumps(document))
        for name, rule in RULES.items():
            verdict = judge(instance, named(name))
            distance, tau = enumerated(document, rule)
            assert (distance, verdict.lossless) == (0, True)
            assert str(verdict.expected_accepted) == str(tau)
        verdict = judge(instance, LOSSY)
        distance, tau = enumerated(document, unscaled)
        assert (str(verdict.total_variation), verdict.lossless) == (str(distance), distance == 0)
        assert str(verdict.expected_accepted) == str(tau)
        lossy += not verdict.lossless
    assert valid >= FILES // 20
    assert lossy >= FILES // 100


def from_the_target(oracle, draft, target):
    node = draft.root
    while node.children:
        child, p, q = node.children[0], target[node.prefix], node.proposal
        x = child.token
        if not oracle.accept(min(p[x] / q[x], p[x] / p[x] if p[x] else q[x] / q[x])):
            return node, p
        node = child
    return node, target[node.prefix]


LOSSY = named("token").__class__("from the target", "", ("chain",), False, from_the_target)
