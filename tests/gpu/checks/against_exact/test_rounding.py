"""The exact law of the rounded algorithm is at the target, up to rounding and no further."""

from dataclasses import replace

import pytest
from flint import fmpq

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.against_exact.noise import fits  # noqa: E402
from draftproof.gpu.verify import VERIFIERS, chains  # noqa: E402
from draftproof.simulators.instances.randoms import Randoms  # noqa: E402
from draftproof.simulators.instances.scenarios import scenario  # noqa: E402
from draftproof.theory.drafts.chain import Chain  # noqa: E402
from draftproof.theory.instance import context_free  # noqa: E402
from tests.gpu.checks.against_exact.laws import ROUNDING, as_read, dyadic, rounded  # noqa: E402
from tests.gpu.checks.against_exact.test_noise import no_update  # noqa: E402
from tests.problems import SCHEMES, TOY  # noqa: E402


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_total_variation_is_that_of_rounding(scheme):
    for instance in (Randoms(scheme, 3, 1)[0], scenario("toy", scheme)):
        for verifier in VERIFIERS.values():
            if fits(verifier, instance):
                for dtype, input_error in ((torch.float32, ROUNDING), (torch.bfloat16, 2**-6)):
                    found = rounded(verifier, instance, dtype)
                    assert 0 <= float(found.own) <= ROUNDING, verifier.name
                    assert float(found.ideal) <= input_error, verifier.name


def test_dyadic_rows_without_rounding_give_the_target_exactly():
    halves = context_free(["1/4", "3/4"], ["1/2", "1/2"], Chain(1))
    for name in ("token", "block", "rrs", "traversal", "one-hot", "nss"):
        found = rounded(VERIFIERS[name], halves, torch.float32)
        assert (found.own, found.ideal) == (0, 0), name


def test_rows_are_read_back_as_they_are():
    assert dyadic(0.75) == fmpq(3, 4)
    assert dyadic(0.1) == fmpq(3602879701896397, 2**55)
    fifths = context_free(["1/5", "4/5"], ["1/2", "1/2"], Chain(1)).target
    for dtype, unit in ((torch.float32, fmpq(1, 2**24)), (torch.bfloat16, fmpq(1, 2**9))):
        read = as_read(fifths, dtype)[()]
        assert sum(read, fmpq(0)) == 1
        assert 0 <= abs(read[0] - fifths[()][0]) <= unit
    assert as_read(TOY.target, torch.float32)[()] == TOY.target[()]  # 2/3 is twice 1/3 in any precision


def test_wrong_verifiers_are_far_off():
    block = replace(VERIFIERS["block"], rates=chains.token_rates)
    assert rounded(block, TOY, torch.float32).own > fmpq(1, 100)
    tree = SCHEMES["tree without replacement"]
    traversal = replace(VERIFIERS["traversal"], rates=no_update)
    assert rounded(traversal, Randoms(tree, 3, 1)[0], torch.float32).own > fmpq(1, 1000)


def test_block_on_the_toy_is_within_a_unit_of_float32():
    found = rounded(VERIFIERS["block"], scenario("toy", Chain(2)), torch.float32)
    assert float(found.own) < 1e-7
    assert float(found.ideal) < 1e-7
