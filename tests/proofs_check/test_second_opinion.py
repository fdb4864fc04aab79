"""A second, independent verdict on every sign-cell verdict with two symbols and at most two tokens.

Trees of two levels are left out where a claim proves the verifier at every size, which is a second verdict.
"""

from collections.abc import Iterator

import pytest

from benchmarks.proofs import PROOFS
from draftproof.proofs_check.claims import CLAIMS
from draftproof.proofs_check.claims.checks import Lossless, Related
from draftproof.proofs_check.claims.claim import SIZES
from draftproof.proofs_check.claims.every_size import CodeRun
from draftproof.proofs_check.claims.quantities import Quantity
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.targets import ITSELF
from draftproof.theory.verifiers import named
from tests.mutants.rules import ON_A_CURVE
from tests.proofs_check.second_opinion.opinion import second_comparison, second_opinion

SECONDS = 3000


def _checks(check) -> Iterator[Lossless | Related]:
    if isinstance(check, Related) or (isinstance(check, Lossless) and check.law == ITSELF):
        yield check


def _verdicts() -> Iterator[tuple[str, object, Scheme, bool]]:
    """(name, what is said, draft, whether it holds) of every sign-cell verdict of that size, once."""
    seen = set()
    for claim in CLAIMS.values():
        for check in _checks(claim.check):
            for vocab, scheme in check.cases:
                said = check.verifier if isinstance(check, Lossless) else claim.key
                once = (said if isinstance(check, Lossless) else id(check)), scheme
                if vocab == 2 and scheme.depth <= 2 and once not in seen:
                    seen.add(once)
                    yield said, check, scheme, claim.verdict == SIZES
    for name, vocab, scheme in PROOFS:
        if vocab == 2 and scheme.depth <= 2 and (name, scheme) not in seen:
            yield name, Lossless(name, (2, scheme)), scheme, True


def _proved_at_every_size(check: Lossless | Related, scheme: Scheme) -> bool:
    if isinstance(check, Related) or scheme.depth == 1 or isinstance(scheme, Chain):
        return False
    runs = [claim.check for claim in CLAIMS.values() if isinstance(claim.check, CodeRun)]
    return any(check.verifier in run.verifiers for run in runs)


def _cases():
    for said, check, scheme, holds in _verdicts():
        if _proved_at_every_size(check, scheme):
            continue
        slow = scheme.depth > 1 and holds
        yield pytest.param(
            check,
            scheme,
            holds,
            id=f"{said} {scheme}",
            marks=[pytest.mark.slow, pytest.mark.long] if slow else [],
        )


@pytest.mark.parametrize(("check", "scheme", "holds"), list(_cases()))
@pytest.mark.sampled(3, long=True)
def test_both_routes_agree(check, scheme, holds):
    if isinstance(check, Lossless):
        opinion = second_opinion(named(check.verifier), scheme, 2, SECONDS)
    else:
        opinion = second_comparison(check.wanted, check.a(scheme), check.b(scheme), 2, scheme, SECONDS)
    assert opinion.holds == holds


def test_a_loss_on_a_curve_is_found():
    assert not second_opinion(ON_A_CURVE, Chain(1), 2).holds


def test_a_wrong_comparison_is_seen():
    token, block = (Quantity(name).mean(Chain(2)) for name in ("token", "block"))
    assert not second_comparison("never below", token, block, 2, Chain(2), SECONDS).holds
