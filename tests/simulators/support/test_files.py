"""Instance files: what is written is what is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.files import document, parse, read, spelled
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import exact
from draftproof.theory.verifier import ALL
from tests.checks import assert_one_line
from tests.problems import TOY, VECTORS, tree, written
from tests.strategies import instances


@pytest.mark.parametrize("label", ALL)
@given(data=st.data())
def test_reading_undoes_writing(label, data):
    instance = data.draw(instances(label))
    assert parse(json.dumps(document(instance))) == instance


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_are_written_as_they_were_read(name):
    given_document = VECTORS[name]["instance"]
    assert json.loads(json.dumps(document(parse(json.dumps(given_document))))) == given_document


def test_probabilities_are_read_exactly_as_written():
    instance = parse(written(target='{"": [0.1, 9e-1]}', proposal=f'{{"": [1e-30, 0.{"9" * 30}]}}'))
    assert instance.target[()] == (exact("1/10"), exact("9/10"))
    assert instance.proposal[()] == (exact(f"1/{10**30}"), 1 - exact(f"1/{10**30}"))


def test_the_simplest_file_is_context_free():
    text = '{"vocab": 2, "target": {"": ["1/3", "2/3"]}, "proposal": {"": ["2/3", "1/3"]}, "draft": %s}'
    assert parse(text % '{"kind": "chain", "depth": 2}') == TOY
    assert parse(text % tree("[[[], []], []]")).draft == Tree((((), ()), ()))


def test_files_may_start_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "marked.json"
    path.write_bytes(b"\xef\xbb\xbf" + written().encode())
    assert read(path).name == str(path)


def test_prefixes_are_token_ids_joined_by_one_space():
    assert [spelled(prefix) for prefix in ((), (3,), (0, 12))] == ["", "3", "0 12"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=3), below, max_size=3),
    max_leaves=6,
)


@given(
    st.sampled_from(["vocab", "target", "proposal", "draft", "kind", "depth", "row", "entry"]), json_values
)
def test_any_value_anywhere_is_read_or_refused(place, value):
    whole = json.loads(written())
    inside = {"kind": whole["draft"], "depth": whole["draft"], "row": whole["target"]}.get(place, whole)
    if place == "entry":
        whole["target"][""][0] = value
    else:
        inside["" if place == "row" else place] = value
    try:
        instance = parse(json.dumps(whole))
    except BadInput as error:
        assert_one_line(error)
    else:
        assert parse(json.dumps(document(instance))) == instance


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(content):
    with pytest.raises(BadInput) as caught:
        parse(content)
    assert_one_line(caught.value)
