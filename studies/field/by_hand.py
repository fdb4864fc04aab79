"""The witnesses of docs/field.md in fractions, from the rule that each faulty line follows.

A second route to the page's numbers: nothing here imports draftproof, or a project's code.
"""

from fractions import Fraction as F
from math import exp, log

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


def others_rows(p, q, other_p, other_q):
    """The second request of a batch, judged by the rows of the first and corrected by its own."""
    return first(q, ratio(other_p, other_q), residual(p, q))


def zeros_uncounted(p):
    """`1 1` where p = q, of a drafted token and one more, of which as many are kept as are not 0."""
    law = F(0)
    for x in (0, 1):
        for y in (0, 1):
            kept = (x, y)[: (x, y).count(1)]
            again = [p[1] for _ in range(2 - len(kept))]  # drawn anew
            mass = p[x] * p[y] * (again[0] if again else 1)
            law += mass if kept and 0 not in kept else 0
    return law


def one_coin(p, q):
    """`1 0` by drafts of one token if one coin is read in every round: p/q is below 1 at 0 only."""
    below, law = ratio(p, q)[0], F(0)
    for coin, keeps in ((below, (0, 1)), (1 - below, (1,))):
        for x in (0, 1):
            if x in keeps:  # the second token is the bonus token
                law += coin * q[x] * (x == 1) * p[0]
            else:  # 1 corrects it, and the next round reads the same coin
                law += coin * q[x] * q[0] * (0 in keeps)
    return law


def pending_dropped(p, q):
    """`1 0` by drafts of one token, if the round that ends the text leaves its last token out; p draws it."""
    kept = ratio(p, q)
    whole = q[1] * kept[1] * p[0]  # 1 and a bonus token that p draws anew
    refused = q[0] * (1 - kept[0])  # corrected to 1, with a round to follow
    return whole + refused * (q[0] * kept[0] + q[0] * (1 - kept[0]) * p[0])


def node_for_token(p, q, nodes=(1, 2)):
    """The row of one child, judged by p and q at the number of its node, which is 1."""
    node = nodes[0]
    accept = F(1) if p[node] >= q[node] else p[node] / q[node]
    return first(q, [accept] * len(q), residual(p, q))


def overwritten(later):
    """The first token of two children of an even q where p is sure of 1: after an accepted second child the
    next token is written in its place, then read as the child.
    """
    law = [F(0), F(0)]
    for children in ((0, 1), (1, 0)):
        for y, mass in enumerate(later):
            law[y if children.index(1) == 1 else 1] += mass / 2
    return law


def noise_kept(later):
    """`1 0` where p is sure of 1, then `later`, and q is even: after a rejected 0 the same noise drafts 0."""
    return F(1, 2) * later[0] + F(1, 2) * ratio(later, HALF)[0]


def duplicates(p, q):
    """The law of two children drawn from q; a rejection takes all of q from p, then the token out of q."""
    law = [F(0)] * len(p)

    def judged(children, left, now, mass):
        if not children:
            for x, part in enumerate(left):
                law[x] += mass * part / sum(left)
            return
        x, *others = children
        kept = min(F(1), left[x] / now[x]) if now[x] else F(0)  # 0/0 accepts nothing
        law[x] += mass * kept
        if kept < 1:
            rest = [max(a - b, F(0)) for a, b in zip(left, now, strict=True)]
            out = [F(0) if y == x else b for y, b in enumerate(now)]
            normed = [[a / (sum(row) or 1) for a in row] for row in (rest, out)]
            judged(others, *normed, mass * (1 - kept))

    for x in range(len(q)):
        for y in range(len(q)):
            if q[x] * q[y]:
                judged([x, y], list(p), list(q), q[x] * q[y])
    return law


def selected_by_draft(p, q, other):
    """A request beside one whose draft has the probability `other`: the likelier draft is verified."""
    kept, left, law = ratio(p, q), residual(p, q), [F(0)] * len(p)
    for x, drafted in enumerate(q):
        verified = drafted > other
        law[x] += drafted * kept[x] if verified else 0
        row, mass = (left, drafted * (1 - kept[x])) if verified else (p, drafted)
        law = [a + mass * b for a, b in zip(law, row, strict=True)]
    return law


def verified_if_zero(p, q):
    """The law of a request whose draft is verified if it is 0, else left out: its token comes from p."""
    kept = ratio(p, q)[0]
    law = [q[1] * a + q[0] * (1 - kept) * b for a, b in zip(p, residual(p, q), strict=True)]
    return [law[0] + q[0] * kept, law[1]]


def cut(p, q):
    """The law if a draft that p forbids is left out, so that the token comes from p."""
    kept, left = ratio(p, q), residual(p, q)
    law = [d * a for d, a in zip(q, kept, strict=True)]
    for x, drafted in enumerate(q):
        row = left if p[x] else p
        law = [a + drafted * (1 - kept[x]) * b for a, b in zip(law, row, strict=True)]
    return law


def likeliest_kept(p, q):
    """A draft is kept if it is the likeliest token of p, else the token comes from p."""
    return first(q, greedy(p), p)


def products_of_coins(t):
    """Two drafted tokens are kept if the product t of their ratios is at least that of two coins."""
    return round(F(t * (1 - log(t))), 4)


def softmax(*logits):
    return [F(exp(each)) / sum(F(exp(other)) for other in logits) for each in logits]


LOGITS = softmax(1, 0), softmax(0, 2)
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
    "SPEC-RL: 0": (first((F(1), F(0)), ratio(HALF, (F(1), F(0))), HALF)[0], F(3, 4)),
    "TriForce: 0": (first(B, ratio(A, B), A)[0], F(4, 9)),
    "rotalabs-accel: 0": (
        at_the_token_only((F(1, 2), F(0), F(1, 2)), (F(3, 5), F(1, 5), F(1, 5)))[0],
        F(3, 5),
    ),
    "BioSpecDec, the only allowed token: 0 0": (argmax_drafts(B, A)[0] ** 2, F(1, 4)),
    "sequential-speculative-decoding: 0": (capped_hsd(A, B), F(2, 3)),
    "neuronx, the second request: 0": (others_rows((F(0), F(1)), (F(1), F(0)), HALF, HALF)[0], F(1)),
    "neuronx, zeros not counted: 1 1": (zeros_uncounted(HALF), F(3, 8)),
    "litgpt and romsto, the greedy token": (round(argmax_drafts(*LOGITS)[0], 4), F("0.6947")),
    "litgpt, the greedy token twice": (round(argmax_drafts(*LOGITS)[0] ** 2, 4), F("0.4826")),
    "litgpt, nucleus: rejected": (ratio((HALF[0], HALF[1], F(0)), (F(0), HALF[0], HALF[1]))[2], F(0)),
    "LongSpec, one child: 0": (node_for_token((F(0), F(1)), (F(1), F(0)))[0], F(1)),
    "DRSY: 1 0": (pending_dropped(HALF, B), F(19, 72)),
    "feifeibear, one coin: 1 0": (one_coin(A, B), F(1, 9)),
    "Sequoia, two children: 0": (overwritten((F(1), F(0)))[0], F(1, 2)),
    "Sequoia, several rounds: 1 0": (noise_kept(HALF), F(3, 4)),
    "specexec, duplicates: 1": (duplicates((F(0), F(2, 5), F(3, 5)), (F(2, 3), F(0), F(1, 3)))[1], F(26, 45)),
    "TETRIS, the second request: 0": (selected_by_draft(HALF, A, HALF[0])[0], F(1, 3)),
    "vLLM's budget: 0": (verified_if_zero((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))[0], F(13, 16)),
    "vLLM, a draft cut: 1": (cut((F(0), *HALF), (HALF[0], F(0), HALF[1]))[1], F(1, 4)),
    "vllm-ascend, block: 0 0": (products_of_coins(1 / 4), F("0.5966")),
    "ssd, a miss: 0": (likeliest_kept(HALF, (F(1), F(0)))[0], F(1)),
    "recurrent-drafter: 0": (argmax_drafts(HALF, HALF)[0], F(1)),
    "subspec, traversal, and Medusa's nucleus: 0": (first([F(1), F(0)], HALF, HALF)[0], F(3, 4)),
    "PEARL without strategy 1: 0": (first([F(1), F(0)], [F(1), F(1)], (F(0), F(1)))[0], F(1)),
}

if __name__ == "__main__":
    for name, (found, page) in WITNESSES.items():
        print(f"{name}: {found}{'' if found == page else f', and the page has {page}'}")
