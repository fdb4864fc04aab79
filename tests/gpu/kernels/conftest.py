"""Kernels are tested compiled where there is a GPU, and in Triton's interpreter where there is none."""

from unittest import mock

import pytest


@pytest.fixture(autouse=True, scope="package")
def many_processors():
    """Rows are cut into chunks as on a GPU: with one processor a small one would be a single chunk."""
    pytest.importorskip("triton", reason="the kernels need Triton")
    import torch

    if torch.cuda.is_available():
        yield
        return
    from draftproof.gpu.kernels import grid

    with mock.patch.object(grid, "processors", return_value=132):
        yield


@pytest.fixture(params=["interpreter", "cuda"])
def device(request):
    import torch

    if (request.param == "cuda") != torch.cuda.is_available():
        pytest.skip("a GPU is there" if torch.cuda.is_available() else "no GPU")
    return torch.device("cuda" if request.param == "cuda" else "cpu")
