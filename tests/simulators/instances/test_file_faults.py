"""Instance files that will not do: every fault is one line that names the file, the key and the fault."""

import os

import pytest

from draftproof.simulators.instances.files import parse, read
from draftproof.theory.errors import BadInput
from tests.checks import assert_one_line
from tests.problems import tree, written


def row(first, second='"1/2"'):
    return f'{{"": [{first}, {second}]}}'


FAULTS = {
    "empty": ("", "is empty"),
    "only space": (" \n\t", "is empty"),
    "not JSON": ("{vocab: 2}", "not JSON", "line 1, column 2"),
    "cut off": (written()[:-1], "not JSON"),
    "two documents": (written() + written(), "not JSON"),
    "a list": ("[]", "must be an object"),
    "a number": ("3", "must be an object"),
    "key twice": ('{"vocab": 2, "vocab": 3}', "'vocab'", "given twice"),
    "prefix twice": (written(target='{"": [1, 0], "": [1, 0]}'), "target", "''", "given twice"),
    "draft key twice": (written(draft='{"kind": "chain", "depth": 1, "depth": 2}'), "draft", "given twice"),
    "no target": (written().replace("target", "taget"), "target is missing"),
    "no vocab": ("{}", "is missing"),
    "unknown key": (written()[:-1] + ', "temperature": 1}', "unknown key", "temperature"),
    "unknown key, long": (written()[:-1] + f', "{"k" * 9999}": 1}}', "unknown key"),
    "vocab zero": (written(vocab="0"), "vocab", "0"),
    "vocab negative": (written(vocab="-2"), "vocab", "-2"),
    "vocab a float": (written(vocab="2.0"), "vocab", "2.0"),
    "vocab a word": (written(vocab='"two"'), "vocab", "two"),
    "vocab yes": (written(vocab="true"), "vocab"),
    "vocab null": (written(vocab="null"), "vocab"),
    "vocab huge": (written(vocab="9" * 1000), "vocab"),
    "vocab beyond digits": (written(vocab="9" * 10**6), "vocab"),
    "vocab a long word": (written(vocab=f'"{"x" * 9999}"'), "vocab"),
    "vocab mismatch": (written(vocab="3"), "target", "2 entries, vocab is 3"),
    "table a list": (written(target="[]"), "target", "must be an object"),
    "table null": (written(proposal="null"), "proposal", "must be an object"),
    "no rows": (written(target="{}"), "target", "empty prefix is missing"),
    "row an object": (written(target='{"": {}}'), "target", "''", "list"),
    "row a string": (written(target='{"": "10"}'), "target", "''", "list"),
    "row too short": (written(proposal='{"": [1]}'), "proposal", "row ''", "1 entries, vocab is 2"),
    "row too long": (written(target='{"": [1, 0], "1": [1, 0, 0]}'), "target", "row '1'", "3 entries"),
    "row a long one": (written(target=f'{{"": [1, 0], "{"0 " * 5000}0": [1, 1]}}'), "target", "sums to 2"),
    "token outside": (written(target='{"": [1, 0], "0 2": [1, 0]}'), "target", "'0 2'", "outside"),
    "prefix a word": (written(target='{"": [1, 0], "a": [1, 0]}'), "target", "'a'", "joined by one space"),
    "prefix of two spaces": (written(target='{"": [1, 0], "0  1": [1, 0]}'), "target", "joined by one"),
    "prefix negative": (written(target='{"": [1, 0], "-1": [1, 0]}'), "target", "joined by one space"),
    "prefix padded": (written(target='{"": [1, 0], "00": [1, 0]}'), "target", "joined by one space"),
    "prefix not ASCII": (written(target='{"": [1, 0], "٣": [1, 0]}'), "target", "joined by one space"),
    "sum below 1": (written(target=row('"1/3"')), "target", "row ''", "sums to 5/6, not 1"),
    "sum of nearly 1": (written(proposal=row("0.500000000000000000000000000001")), "proposal", "1 + 1e-30"),
    "negative entry": (written(target=row("-0.5", "1.5")), "target", "row ''", "negative"),
    "entry NaN": (written(target=row("NaN")), "target", "NaN"),
    "entry infinite": (written(target=row("-Infinity")), "target", "Infinity"),
    "entry huge": (written(target=row("9" * 1000)), "target", "sums to"),
    "entry huge exponent": (written(target=row("1e999")), "target", "sums to"),
    "entry beyond digits": (written(target=row("9" * 10**6)), "target", "digits"),
    "entry beyond exponents": (written(target=row("1e99999999")), "target", "exponent"),
    "entry a word": (written(target=row('"half"')), "target", "half"),
    "entry dividing by zero": (written(target=row('"1/0"')), "target", "divides by zero"),
    "entry true": (written(target=row("true", "0")), "target", "True is not a number"),
    "entry null": (written(proposal=row("null")), "proposal", "not a number"),
    "entry a list": (written(proposal=row("[1]")), "proposal", "not a number"),
    "draft a word": (written(draft='"chain"'), "draft", "chain:4"),
    "draft of no kind": (written(draft='{"depth": 1}'), "draft", "kind"),
    "draft of unknown kind": (written(draft='{"kind": "forest"}'), "draft", "forest", "chain"),
    "draft kind a number": (written(draft='{"kind": 3, "depth": 1}'), "draft", "kind"),
    "draft kind with a line break": (written(draft='{"kind": "a\\nb", "depth": 1}'), "draft"),
    "draft without depth": (written(draft='{"kind": "chain"}'), "draft", "depth is missing"),
    "draft with too much": (written(draft='{"kind": "chain", "depth": 1, "count": 2}'), "draft", "count"),
    "depth zero": (written(draft='{"kind": "chain", "depth": 0}'), "draft", "depth", "not 0"),
    "depth a float": (written(draft='{"kind": "chain", "depth": 1.0}'), "draft", "depth"),
    "depth yes": (written(draft='{"kind": "spechub", "depth": true}'), "draft", "depth"),
    "depth huge": (written(draft=f'{{"kind": "chain", "depth": {"9" * 1000}}}'), "draft", "depth"),
    "depth a line break": (written(draft='{"kind": "chain", "depth": "\\n"}'), "draft", "depth"),
    "depth an escape": (written(draft='{"kind": "chain", "depth": "\\u001b[31m"}'), "draft", "depth"),
    "count zero": (written(draft='{"kind": "paths", "count": 0, "depth": 1}'), "draft", "count"),
    "shape a leaf": (written(draft=tree("[]")), "draft", "at least 1"),
    "shape of numbers": (written(draft=tree("[1, 2]")), "draft", "shape"),
    "shape too wide": (written(draft=tree(str([[]] * 5000))), "draft", "4096"),
    "replacement missing": (written(draft='{"kind": "tree", "shape": [[]]}'), "draft", "replacement is"),
    "replacement a word": (written(draft=tree("[[]]", '"yes"')), "draft", "replacement"),
    "replacement a long word": (written(draft=tree("[[]]", f'"{"x" * 9999}"')), "draft", "replacement"),
    "too many outcomes": (written(draft='{"kind": "chain", "depth": 256}'), "draft", "outcomes"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "parts"), [(f[0], f[1:]) for f in FAULTS.values()], ids=FAULTS)
def test_every_fault_is_one_line_that_names_file_key_and_fault(content, parts, tmp_path):
    path = tmp_path / "an instance.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert_one_line(BadInput(str(caught.value).removeprefix(f"{path}: ")), *parts)


PLACES = {
    "document": "@",
    "vocab": written(vocab="@"),
    "table": written(target="@"),
    "row": written(target='{"": @}'),
    "entry": written(target='{"": [@, 1]}'),
    "draft": written(draft="@"),
    "kind": written(draft='{"kind": @}'),
    "depth": written(draft='{"kind": "chain", "depth": @}'),
    "shape": written(draft=tree("@")),
    "replacement": written(draft=tree("[[]]", "@")),
}
DEPTHS = [40, 255, 258, 400, *range(880, 1010), 10**5]


@pytest.mark.parametrize("place", PLACES)
def test_whatever_is_nested_deeply_is_one_line(place):
    """Nesting exhausts a reader's stack at one depth, and a printer's at another."""
    for depth in DEPTHS:
        with pytest.raises(BadInput) as caught:
            parse(PLACES[place].replace("@", "[" * depth + "]" * depth))
        assert_one_line(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path):
    binary = tmp_path / "binary.json"
    binary.write_bytes(bytes(range(256)))
    for path, fault in (
        (tmp_path / "nowhere.json", "no such file or directory"),
        (tmp_path, "is a directory"),
        (binary, "not a text file"),
        (binary / "below", "not a directory"),
        (tmp_path / ("long" * 100), "file name too long"),
    ):
        with pytest.raises(BadInput) as caught:
            read(path)
        assert str(caught.value) == f"{path}: {fault}"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_files_that_may_not_be_read_are_named(tmp_path):
    path = tmp_path / "secret.json"
    path.write_text(written(), encoding="utf-8")
    path.chmod(0)
    with pytest.raises(BadInput, match="permission denied"):
        read(path)
