"""The wheel's layout: draftproof.py becomes the package, the four folders beside it its subpackages.

In a clone and in an editable install `draftproof.py` is the module and finds the folders by its `__path__`.
"""

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = {"draftproof.py": "__init__.py"} | {
    folder: folder for folder in ("theory", "simulators", "proofs_check", "gpu")
}


class CustomBuildHook(BuildHookInterface):
    """Puts the files of the wheel where they belong; an editable install takes them from the clone."""

    def initialize(self, version: str, build_data: dict) -> None:
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"] |= {
                f"{self.root}/{source}": f"draftproof/{place}" for source, place in PACKAGE.items()
            }
