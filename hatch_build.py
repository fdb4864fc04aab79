"""The layout of the package: draftproof.py becomes `draftproof/__init__.py`, with the four folders inside.

A wheel contains the files. An editable install puts `build/package` on the path, which contains links to
them, so that the folders' bare names (theory, gpu, ...) can be imported only from inside the clone.
"""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LAYOUT = {"draftproof.py": "__init__.py"} | {
    folder: folder for folder in ("theory", "simulators", "proofs_check", "gpu")
}
EXAMPLES = "docs/*.json"  # instances that the documentation names; `simulators/files.py` finds them


class CustomBuildHook(BuildHookInterface):
    """Puts the files of a wheel where they belong; for an editable install, links to them."""

    def initialize(self, version: str, build_data: dict) -> None:
        root = Path(self.root)
        if version == "editable":
            link(root, root / "build" / "package")
        elif self.target_name == "wheel":
            build_data["force_include"] |= {
                str(root / source): f"draftproof/{place}" for source, place in LAYOUT.items()
            } | {str(path): f"draftproof/docs/{path.name}" for path in root.glob(EXAMPLES)}


def link(root: Path, folder: Path) -> None:
    """Makes the package's layout in `folder`, as links into the clone `root`."""
    package = folder / "draftproof"
    package.mkdir(parents=True, exist_ok=True)
    for source, place in LAYOUT.items():
        (package / place).unlink(missing_ok=True)
        (package / place).symlink_to(root / source)
