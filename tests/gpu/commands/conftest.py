"""`draftproof gpu ...` as users run it."""

import json

import pytest

from draftproof.gpu.commands import gpu
from draftproof.simulators.commands.entry import enter


@pytest.fixture
def toml(tmp_path):
    """Writes a settings file: ("--settings", its path)."""

    def written(**settings):
        file = tmp_path / "settings.toml"
        file.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
        return "--settings", file

    return written


@pytest.fixture
def run(capfd):
    """Runs `draftproof gpu ...`: (exit status, standard output, standard error)."""

    def ended(*arguments):
        status = enter(gpu, [str(each) for each in arguments])
        return status, *capfd.readouterr()

    return ended
