"""The layout of the package: `draftproof/` links to draftproof.py and to the four folders beside it.

A wheel contains the files that the links lead to, the examples of the documentation and the references. An
editable install puts `build/package` on the path, which holds one link, to `draftproof/`, so that the
folders' bare names (theory, gpu, tests, ...) stay out of the environment.
"""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

EXAMPLES = "docs/*.json"  # instances that the documentation names; `simulators/support/files.py` finds them


class CustomBuildHook(BuildHookInterface):
    """Adds the examples and the references to a wheel; for an editable install, makes the link."""

    def initialize(self, version: str, build_data: dict) -> None:
        root = Path(self.root)
        if version == "editable":
            link(root, root / "build" / "package")
        elif self.target_name == "wheel":
            build_data["force_include"] |= {
                **{str(path): f"draftproof/docs/{path.name}" for path in root.glob(EXAMPLES)},
                str(root / "references.bib"): "draftproof/references.bib",
            }


def link(root: Path, folder: Path) -> None:
    """Makes `folder`/draftproof, the package of the clone `root`."""
    folder.mkdir(parents=True, exist_ok=True)
    package = folder / "draftproof"
    if package.is_dir() and not package.is_symlink():  # what earlier versions made
        for place in package.iterdir():
            place.unlink()
        package.rmdir()
    package.unlink(missing_ok=True)
    package.symlink_to(root / "draftproof")
