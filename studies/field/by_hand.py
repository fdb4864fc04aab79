"""The witnesses of docs/field.md in fractions, from the rule that each faulty line follows.

A second route to the page's numbers: nothing here imports draftproof, or a project's code.
"""

from fractions import Fraction as F

HALF, A, B = (F(1, 2), F(1, 2)), (F(1, 3), F(2, 3)), (F(2, 3), F(1, 3))


def ratio(p, q):
    """min(1, p/q) of each token."""
    return [min(F(1), a / b) if b else F(1) for a, b in zip(p, q, strict=True)]


def residual(p, q):
    left = [max(a - b, F(0)) for a, b in zip(p, q, strict=True)]
    return [each / sum(left) for each in left] if sum(left) else list(p)


def first(drafted, accept, correction):
    """The law of the first token: drafted by a law, accepted with `accept`, else drawn from `correction`."""
    lost = sum(d * (1 - a) for d, a in zip(drafted, accept, strict=True))
    return [d * a + lost * c for d, a, c in zip(drafted, accept, correction, strict=True)]


def greedy(q):
    return [F(int(x == max(range(len(q)), key=q.__getitem__))) for x in range(len(q))]


def argmax_drafts(p, q):
    """Greedy drafts, verified with the rows of softmax."""
    return first(greedy(q), ratio(p, q), residual(p, q))


def not_divided(p, sharp):
    """The law of `0 0` if 0 is drafted and the row after it is not divided by T: `sharp` is the row at T."""
    return sharp[0] * p[0]


def capped_hsd(p, q):
    """0 if two tokens are drafted: the first one's ratio decides about both; if it rejects, the first is kept
    with the quotient of the sums of (p - q)+ and (q - p)+, which are equal.
    """
    kept = ratio(p, q)[0]
    more = sum(max(a - b, F(0)) for a, b in zip(p, q, strict=True))
    less = sum(max(b - a, F(0)) for a, b in zip(p, q, strict=True))
    return q[0] * (kept + (1 - kept) * more / less)


def seen_twice(p, q):
    """One coin decides about two drafted tokens: 0 and then 0 again, both drafted, p/q = 1/2 at 0."""
    return q[0] * ratio(p, q)[0] * q[0]


def likeliest_listed(p, q):
    """A draft replaces the target's own token if it is the likeliest one, with probability min(1, p/q)."""
    best = max(range(len(p)), key=p.__getitem__)
    law = [F(0)] * len(p)
    for x in range(len(q)):
        for y in range(len(p)):
            kept = ratio(p, q)[x] if x == best and x != y else F(int(x == y))
            law[x] += q[x] * p[y] * kept
            law[y] += q[x] * p[y] * (1 - kept)
    return law


def at_the_token_only(p, q):
    """q is subtracted at the drafted token only."""
    law = [F(0)] * len(p)
    for x, drafted in enumerate(q):
        kept = ratio(p, q)[x]
        left = [max(a - (q[x] if y == x else 0), F(0)) for y, a in enumerate(p)]
        law[x] += drafted * kept
        law = [a + drafted * (1 - kept) * b / sum(left) for a, b in zip(law, left, strict=True)]
    return law


def sampled_at_each_leaf(p, leaves):
    """Each leaf samples the shared root anew; a leaf that equals its sample wins, else either."""
    law = [F(0)] * len(p)
    for a, first_mass in enumerate(p):
        for b, second_mass in enumerate(p):
            drawn = (a, b)
            won = [i for i in (0, 1) if drawn[i] == leaves[i]] or [0, 1]
            for i in won:
                law[drawn[i]] += first_mass * second_mass / len(won)
    return law


def coins_kept(p, q):
    """`0 0` if the root of every round has one coin: after a rejected 1 the first token comes again."""
    return p[0] * (q[0] * p[0] + q[1])


def written_twice(p, later, q):
    """`1 0` if an accepted token stands twice in the context that judges the next: p = (0, 1), later = q."""
    return q[1] * ratio(p, q)[1] * q[0] * ratio(later, q)[0]


QUARTERS = (F(1, 5), F(4, 5))  # at T = 1/2; its square roots are in the proportion 1 : 2
WITNESSES = {
    "transformers, Gemma 4: 0 0": (argmax_drafts(A, B)[0] * A[0], F(1, 6)),
    "neuronx, greedy drafts: 0": (argmax_drafts(HALF, B)[0], F(3, 4)),
    "self-speculative, greedy drafts: 0 0": (argmax_drafts(HALF, HALF)[0] * HALF[0], F(1, 2)),
    "LongSpec: 0": (first(greedy(B), ratio(A, B), A)[0], F(2, 3)),
    "REST, Medusa's nucleus: 0": (first([F(1), F(0)], HALF, HALF)[0], F(3, 4)),
    "HASS, SAM-Decoding, Spec-Bench, SWIFT: 0 0": (not_divided(A, QUARTERS), F(1, 15)),
    "PEARL: 0 0": (seen_twice(A, B), F(2, 9)),
    "TokenSwift: 0": (sampled_at_each_leaf((F(1, 5), F(1, 5), F(3, 5)), (0, 1))[0], F(13, 50)),
    "UMbreLLa: 0 0": (coins_kept(A, B), F(5, 27)),
    "levvius: 1 0": (written_twice((F(0), F(1)), B, B), F(2, 9)),
    "SVIP: 1 0": ((1 - ratio(HALF, (F(1), F(0)))[0]) * greedy(HALF)[0], F(1, 2)),
    "csaq-quant: 0": (first(B, ratio(B, B), B)[0], F(2, 3)),
    "tightwad: 0": (likeliest_listed(A, B)[0], F(2, 9)),
    "SpS-SpecDec: 0": (first(B, A, A)[0], F(11, 27)),
    "SpS-SpecDec, greedy drafts: 0": (first(greedy(B), A, A)[0], F(5, 9)),
    "SPEC-RL: 0": (first(B, ratio(HALF, B), HALF)[0], F(7, 12)),
    "TriForce: 0": (first(B, ratio(A, B), A)[0], F(4, 9)),
    "rotalabs-accel: 0": (
        at_the_token_only((F(1, 2), F(0), F(1, 2)), (F(3, 5), F(1, 5), F(1, 5)))[0],
        F(3, 5),
    ),
    "BioSpecDec, the only allowed token: 0 0": (argmax_drafts(B, A)[0] ** 2, F(1, 4)),
    "sequential-speculative-decoding: 0": (capped_hsd(A, B), F(2, 3)),
}

if __name__ == "__main__":
    for name, (found, page) in WITNESSES.items():
        print(f"{name}: {found}{'' if found == page else f', and the page has {page}'}")
