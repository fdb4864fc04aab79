"""The examples in docstrings, of every module under its true name."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1]
FILES = [
    path for room in ("theory", "simulators", "proofs_check", "gpu") for path in (HOUSE / room).rglob("*.py")
]
MODULES = [
    "draftproof",
    *(".".join(("draftproof", *p.relative_to(HOUSE).with_suffix("").parts)) for p in sorted(FILES)),
]
EXTRAS = ("torch", "triton", "transformers", "tokenizers", "safetensors", "starlette", "uvicorn", "httpx2")


@pytest.mark.parametrize("name", [name.removesuffix(".__init__") for name in MODULES])
def test_examples(name):
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in EXTRAS:
            pytest.skip(f"needs {error.name}")
        raise
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


def test_an_example_that_is_wrong_is_found():
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=lambda text: None).failed == 1
