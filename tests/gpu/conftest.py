"""One thread for torch: tests run side by side, and their threads would wait for one another."""

from importlib.util import find_spec

if find_spec("torch"):
    import torch

    torch.set_num_threads(1)
