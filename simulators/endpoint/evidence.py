"""The file of `--resume`: the wealth of every test and what was spent; neither prompts, tokens nor keys."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from draftproof.simulators.endpoint.betting import Wealth
from draftproof.simulators.files import replacing, text_of
from draftproof.theory.errors import BadInput

SPENT = "tokens", "prompt_tokens", "seconds"


class Evidence:
    """Evidence that is kept between runs. Wealth multiplies from run to run, so that any number of runs has
    the error of one. Without a path nothing is kept.
    """

    def __init__(self, path: Path | None):
        self.path, self.about = path, ""
        self.tests: Mapping[str, Wealth] = {}
        self.earlier = dict.fromkeys(SPENT, 0)

    def open(self, about: Any, tests: Mapping[str, Wealth]) -> None:
        """Continues the tests from the file, if it exists. `about` is what is tested, of which a digest is
        compared. BadInput for evidence about something else, and for any other file.
        """
        self.tests = tests
        self.about = blake2b(json.dumps(about).encode(), digest_size=16).hexdigest()
        if self.path is None or not self.path.exists():
            return
        try:
            state = json.loads(text_of(self.path))
            if state["about"] == self.about:
                for name, test in tests.items():
                    test.load(state["tests"][name])
                self.earlier = {name: state[name] for name in SPENT}
                return
        except (ValueError, KeyError, TypeError):
            raise BadInput(f"{self.path}: not a file of `draftproof endpoint --resume`") from None
        raise BadInput(f"{self.path}: evidence about another server, model or setting, or other prompts")

    def save(self, spent: Mapping[str, Any]) -> dict[str, Any]:
        """Writes the file; returns what was spent in all runs."""
        total = {name: round(self.earlier[name] + spent[name], 3) for name in SPENT}
        if self.path is not None and self.about:
            state = {
                "about": self.about,
                **total,
                "tests": {name: test.state() for name, test in self.tests.items()},
            }
            with replacing(self.path) as part:
                part.write_text(json.dumps(state), encoding="utf-8")
        return total
