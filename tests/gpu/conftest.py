"""Networks for the tests of gpu/: small, on the CPU, one thread; a position sees far and rows differ."""

from importlib.util import find_spec

if find_spec("torch"):
    import torch

    torch.set_num_threads(1)
