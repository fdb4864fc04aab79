"""The measure of glue counts code alone."""

from benchmarks.glue import lines_of_code, measured

TEXT = '''"""A study."""
import there


def verify(p, q, x):
    """Theirs."""
    # why
    return there.verify(
        p
    )
'''


def test_lines_of_code_are_counted():
    assert lines_of_code(TEXT) == 4


def test_loops_and_verifiers_are_told_apart():
    found = measured()
    assert "litgpt.py" in found["loop"]
    assert "deepspec.py" in found["verifier"]
    assert all(lines > 0 for files in found.values() for lines in files.values())
