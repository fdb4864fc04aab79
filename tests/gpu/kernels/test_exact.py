"""The kernels against the exact engine itself, with noise on both sides of every threshold."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")

from draftproof.gpu.exact.noise import agreement, fits  # noqa: E402
from draftproof.gpu.exact.run import fused  # noqa: E402
from draftproof.gpu.kernels import NAMES  # noqa: E402
from draftproof.gpu.verify import named  # noqa: E402
from draftproof.simulators.instances.randoms import Randoms  # noqa: E402
from draftproof.theory.drafts.chain import Chain  # noqa: E402
from draftproof.theory.drafts.tree import Tree as Drawn  # noqa: E402
from tests.problems import SCHEMES  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")


@pytest.mark.parametrize(
    ("name", "scheme", "V"),
    [
        ("block", Chain(2), 2),
        ("token", Chain(1), 2),
        ("traversal", Drawn([[], []]), 3),
        ("one-hot", Chain(1), 2),
    ],
    ids=str,
)
def test_one_small_instance(name, scheme, V, device):
    (found,) = agreement(Randoms(scheme, V, 1), device.type, [fused(name)])
    assert found.wrong == 0, found
    assert found.rows > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_draft(name, device):
    for scheme in SCHEMES.values():
        instances = list(Randoms(scheme, 2 if device.type == "cpu" else 3, 1 if device.type == "cpu" else 5))
        if fits(named(name), instances[0]):
            (found,) = agreement(instances, device.type, [fused(name)])
            assert found.wrong == 0, found
