"""Names of verifiers and drafts: judged without torch, and the same with it."""

import subprocess
import sys

import pytest

from draftproof.gpu.sampling import names as spelling
from draftproof.theory.errors import BadInput

WRONG = (
    "chain chain:0 chain:x chain:2x2 chain:9999 tree: tree:[ tree:[] tree:3x9 top-k:2x2 paths:400x4 forest:2"
)


@pytest.mark.parametrize("draft", ["", *WRONG.split()])
def test_spellings_that_are_none(draft):
    with pytest.raises(BadInput, match="--draft"):
        spelling.draft(draft)


def test_the_verifiers_are_those_that_there_are():
    pytest.importorskip("torch")
    from draftproof.gpu.verify import VERIFIERS

    assert tuple(VERIFIERS) == spelling.VERIFIERS


@pytest.mark.parametrize("command", ["generate", "validate", "bench", "bench --model shipped"])
def test_wrong_names_are_noticed_before_torch(command):
    program = (
        "import sys; sys.modules['torch'] = None; from draftproof.gpu.commands import gpu; "
        "from draftproof.simulators.commands.entry import enter; "
        "[print(enter(gpu, [*sys.argv[1:], *each.split()])) for each in ('--draft oak:2', '--verifier blok')]"
    )
    ran = subprocess.run([sys.executable, "-c", program, *command.split()], capture_output=True, text=True)
    assert ran.stdout == "2\n2\n"
    draft, verifier = ran.stderr.splitlines()
    assert "--draft" in draft
    assert "'blok' is not one of" in verifier
