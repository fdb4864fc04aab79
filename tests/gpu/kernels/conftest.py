"""Kernels are tested compiled where there is a GPU, and in Triton's interpreter where there is none."""

import pytest


@pytest.fixture(params=["interpreter", "cuda"])
def device(request):
    import torch

    if (request.param == "cuda") != torch.cuda.is_available():
        pytest.skip("a GPU is there" if torch.cuda.is_available() else "no GPU")
    return torch.device("cuda" if request.param == "cuda" else "cpu")
