"""Instances with known optima, where the checkout has them."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "vectors"
FILES = sorted(FOLDER.glob("*.json")) if FOLDER.is_dir() else []

each_vector = pytest.mark.parametrize(
    "vector",
    [pytest.param(json.loads(file.read_text()), id=file.stem) for file in FILES]
    or [pytest.param(None, marks=pytest.mark.skip(reason="no shared/vectors in this checkout"))],
)
