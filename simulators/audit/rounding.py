"""A bound on the total variation that rounding alone can cause."""

from math import log

from flint import fmpq

ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Unit roundoff u of each arithmetic a target may compute in: fl(a op b) = (a op b)(1 + d), |d| <= u."""

SHIFT = 0.3
"""A constant added to every target logit. Softmax cancels it, but its rounding remains, as in real models."""


def rounding_bound(
    dtype: str, vocab: int, drafted: int, rounds: int = 1, logits: bool = False, draws: bool = False
) -> fmpq:
    """A bound on the total variation that rounding alone can cause in a verifier that is lossless in
    real numbers, to first order in u; `drafted` is the number of tokens in one draft.

    What such a verifier must compute, and what each step may add, in units of u:

    * its rows p and q, known up to r on average over the row. As probabilities r = 1: one rounding
      when they are given. As logits, r = 2 (log V + SHIFT) + V + 5: rounding a logit l, and then l
      less the largest one, moves a probability by |l| each, and sum p |log p| <= log V; exp is good
      to 2; the softmax sums V numbers and divides.
    * weights w_i = min(1, w_{i-1} p/q): two operations and two rows a token, so w_i is known up to
      c_i = (2r + 2) i. Token verification starts again at each token, so c_i = 0.
    * the residual D = (w p - q)+, together known up to c_i + 2r + 2: two rows, a product, a difference.
    * its sum A: V - 1 more additions.
    * the probability of stopping, h = A / B with B = A + 1 - w_i. A run comes here with probability
      B, so what counts is B dh <= dA (1 - h) + h d(1 - w) + 2 <= c_i + 2r + V + 3. An acceptance by
      min(1, p/q) is less: 2r + 2.
    * one comparison of a coin with h: 1.
    * the token drawn from D / A, here with probability A at most: normalising doubles the error of D
      and a total variation halves it, so c_i + 2r + 2, plus V + 1 for the sum and the division, plus
      V/2 for a cumulative sum, in which every bucket keeps what the rounding at its ends moved.

    Together at most 2 c_i + 4r + 5V/2 + 7 where the i-th drafted token is decided, and as much for
    the token after the last. Total variations of successive choices add up, which gives the sum over
    i = 0 .. drafted, and once more for every round. Siblings of a tree are decided one after another
    and count like tokens of a chain. A loop that `draws` its drafts itself adds the error of each
    draw, 2r + V + 1: its row, the sum and the division.
    """
    r = 2 * (log(vocab) + SHIFT) + vocab + 5 if logits else 1.0
    units = sum(2 * (2 * r + 2) * i + 4 * r + 2.5 * vocab + 7 for i in range(drafted + 1))
    units += drafted * (2 * r + vocab + 1) if draws else 0
    return fmpq(*ROUNDOFF[dtype].as_integer_ratio()) * fmpq(*units.as_integer_ratio()) * rounds
