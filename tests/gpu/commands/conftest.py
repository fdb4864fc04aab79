"""`draftproof gpu ...` as users run it."""

import pytest

from draftproof.gpu.commands import gpu
from draftproof.simulators.commands.entry import enter


@pytest.fixture
def run(capfd):
    """Runs `draftproof gpu ...`: (exit status, standard output, standard error)."""

    def ended(*arguments):
        status = enter(gpu, [str(each) for each in arguments])
        return status, *capfd.readouterr()

    return ended
