"""Block verification never accepts less than token verification, and by how much more.

Pr(tau >= l | X^l) is w_l for block and t_l = min(1, rho_1) .. min(1, rho_l) for token verification:
E[tau] differs by the sum over x^l of q(x^l) (w_l - t_l), no term of which is negative.
"""

from draftproof.proofs_check.induction.steps import ONE, Theorem, always, least, reals

_w, _t, _rho = reals("w t rho")


THEOREM = Theorem(
    name="block accepts at least as much as token",
    statement=(
        "E[tau] of block minus that of token is the sum over x^l of q(x^l) (w_l - prod min(1, rho_i)), and "
        "every term is >= 0; at depth 1 all are 0."
    ),
    source="sun2025block, comparison with token verification",
    verifiers=(),
    assumed=("E[tau] = sum over l of Pr(tau >= l)", "Pr(tau >= l | X^l) = w_l of block: 'block is lossless'"),
    steps=(
        always(
            "w >= t gives min(1, w rho) >= t min(1, rho)",
            least(ONE, _w * _rho) >= _t * least(ONE, _rho),
            _w >= _t,
            _t >= 0,
            _w <= 1,
            _rho >= 0,
        ),
        always("w_1 = min(1, rho_1) = t_1", least(ONE, ONE * _rho) == ONE * least(ONE, _rho), _rho >= 0),
    ),
)
