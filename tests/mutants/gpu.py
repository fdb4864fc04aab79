"""Mutants of the batched verifiers and of their kernels, with judges of their own; needs torch and Triton."""

from tests.gpu.kernels.mutants import FLAWS
from tests.gpu.lossy import LOSSY
from tests.mutants.registry import Mutant

ROWS = {
    "joint-product": "1",
    "unscaled-residual": "2",
    "p-for-residual": "4",
    "hsd-released": "24",
    "specinfer-on-distinct": "30",
}
"""Numbers in the list of bugs of lossy verifiers that the checks of models have to notice."""

EXACT = "tests/gpu/checks/models/test_bounds.py"
NOTICED = "tests/gpu/checks/models/test_faults.py"

KERNELS = [
    Mutant(
        name,
        f"source edit of gpu/kernels/{flaw.module_name}.py",
        judge="tests/gpu/kernels/test_interleaving.py",
    )
    for name, flaw in FLAWS.items()
]
BATCHED = [
    Mutant(name, each.fault, ROWS.get(name, ""), judge=EXACT if each.faint else NOTICED)
    for each in LOSSY
    for name in [each.verifier.name]
]
