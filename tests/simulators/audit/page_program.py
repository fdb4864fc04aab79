"""The C++ program of docs/other-languages.md, compiled."""

import re
import shutil
import subprocess
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "other-languages.md"


def can_compile() -> bool:
    """Whether there are a C++ compiler and the JSON library."""
    return shutil.which("g++") is not None and Path("/usr/include/nlohmann/json.hpp").exists()


def compiled(program: Path, old: str = "", new: str = "") -> str:
    """Compiles the page's program, with `old` replaced by `new`, and returns its path."""
    found = re.search(r"^```cpp\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    assert old in found[1]
    source = program.with_suffix(".cpp")
    source.write_text(found[1].replace(old, new) if old else found[1])
    subprocess.run(["g++", "-O2", "-std=c++17", "-o", program, source], check=True)
    return str(program)
