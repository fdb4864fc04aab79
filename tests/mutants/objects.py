"""Bugs that real verifiers had, as foreign objects: those that draft themselves or keep something."""

import numpy as np

from tests.mutants.controls import TokenVerifier, block_law, drawn, residual, token_function, weights
from tests.mutants.registry import mutant


@mutant("a rejection is noticed one iteration late, and a token dropped", row="7", iterations=2)
class drops_after_a_rejection:
    late = False

    def __call__(self, p, q, x, rng):
        word = token_function(p, q, x, rng)
        kept = word[1:] if self.late and len(word) > 1 else word
        self.late = len(word) <= len(x)
        return kept


@mutant("random state seeded again at every call", row="8", iterations=2)
class reseeds:
    def __call__(self, p, q, x, rng):
        return token_function(p, q, x, np.random.default_rng(0))


@mutant("drafted greedily, verified with the softmax q", row="9")
class drafts_greedily(TokenVerifier):
    def draft(self, row, rng, position):
        return int(row.argmax())


@mutant("drafts sampled after a processor, q taken before it", row="10")
class drafts_processed(TokenVerifier):
    def draft(self, row, rng, position):
        return drawn(row**2, rng)


@mutant("drafted from rows rounded to 8 bits, ratio with the full ones", row="12")
class drafts_in_bfloat16(TokenVerifier):
    def draft(self, row, rng, position):
        return drawn(
            (row.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32).astype(float), rng
        )


@mutant("drafted from marginals by position, verified as if jointly", row="14")
class drafts_from_marginals:
    def draft(self, row, rng, position):
        self.first = row if position == 0 else getattr(self, "first", row)
        return drawn(self.first, rng)

    def __call__(self, p, q, x, rng):
        return token_function(p, np.maximum(q, 1e-30), x, rng)


@mutant("the draft's Gumbel noise used again for the residual", row="16")
class reuses_the_drafts_noise:
    def __init__(self):
        self.noise = {}

    def draft(self, row, rng, position):
        self.noise[position] = rng.exponential(size=len(row))
        return int(np.argmax(row / self.noise[position]))

    def __call__(self, p, q, x, rng, position):
        for i, t in enumerate(x):
            if not rng.random() < p[i, t] / q[i, t]:
                return [*x[:i], int(np.argmax(residual(p[i], q[i]) / self.noise[position + i]))]
        return [*x, drawn(p[-1], rng)]


@mutant("block rule, uniforms keyed by seed and position, used again", row="17", iterations=2)
class keyed_by_position:
    def __call__(self, p, q, x, rng, position):
        h, rows = block_law(p, q, x, weights(p, q, x))
        coins = [np.random.default_rng((3, position + i)).random() for i in range(len(x))]
        tau = max([i + 1 for i, u in enumerate(coins) if u < h[i + 1]], default=0)
        return [*x[:tau], drawn(rows[tau], rng)]


@mutant("drafts rejected later have already changed the penalties", row="22", iterations=2)
class penalised_by_rejected_drafts:
    def __init__(self):
        self.seen = set()

    def __call__(self, p, q, x, rng):
        factor = np.array([0.5 if y in self.seen else 1.0 for y in range(len(p[0]))])
        word = token_function(p * factor / (p * factor).sum(axis=1, keepdims=True), q, x, rng)
        self.seen.update(int(t) for t in x[len(word) - 1 :])  # what was penalised rightly is in p
        return word
