"""The measure of glue counts code alone."""

from benchmarks.glue import kinds, lines_of_code, measured

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


def test_lines_are_counted_by_what_they_are_for():
    text = f"FILE = 1\n\n\nclass Net:\n    def __call__(self):\n        return 1\n{TEXT}".replace(
        "p, q, x", "target_probs"
    )
    found = kinds(text)
    assert found.total() == lines_of_code(text) == 8
    assert found["functions that the audit calls"] == 4
    assert found["models, tokenizers and engines of another shape"] == 3


def test_loops_and_verifiers_are_told_apart():
    found = measured()
    assert "by_hand.py" not in found["verifier"], "it audits nothing"
    assert "litgpt.py" in found["loop"]
    assert "deepspec.py" in found["verifier"]
    assert all(lines > 0 for files in found.values() for lines in files.values())
