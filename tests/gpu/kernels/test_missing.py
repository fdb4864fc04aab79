"""Where Triton is missing everything imports, and one clear line says what to do."""

import subprocess
import sys

import pytest

pytest.importorskip("torch")

WITHOUT = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "triton" else find(name, *rest)
import draftproof.gpu.commands.bench, benchmarks.verification
from draftproof.gpu import kernels
from draftproof.theory.errors import BadInput
assert not kernels.AVAILABLE and "triton" not in sys.modules
try:
    kernels.verify("block", None)
except BadInput as error:
    print(error)
"""


def test_everything_imports_without_triton():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == "the kernels need Triton, which is not installed: pip install 'draftproof[gpu]'\n"


def test_logits_on_the_cpu_are_refused_in_one_line_where_kernels_are_compiled(monkeypatch):
    pytest.importorskip("triton")
    import torch

    from draftproof.gpu import kernels
    from draftproof.gpu.sampling.tree import Tree
    from draftproof.gpu.verify import Batch
    from draftproof.theory.errors import BadInput

    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    even = torch.zeros(1, 2, 4)
    noise = torch.tensor([[3]]), torch.tensor([[0.5]]), torch.tensor([0.0])
    with pytest.raises(BadInput, match="these logits are on the CPU"):
        kernels.verify("block", Batch(Tree.chain(1), even, even[:, :1], *noise))
