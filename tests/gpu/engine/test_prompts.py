"""Prompt files, chat templates, and the first turns of benchmarks' questions."""
# ruff: noqa: E402

import json
from functools import cache

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters.choose import SHIPPED
from draftproof.gpu.engine.prompts import asked, prompts, questions
from draftproof.gpu.network.models import load
from draftproof.theory.errors import BadInput

TEMPLATE = (
    "{% for m in messages %}{{ '<' + m['role'] + '>' + m['content'] + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"
)


@cache
def shipped():
    return load(SHIPPED / "target", "cpu")


@pytest.fixture
def chatting(monkeypatch):
    """The shipped target with a chat template."""
    monkeypatch.setattr(shipped().tokenizer, "chat_template", TEMPLATE)
    return shipped()


def test_lines_objects_and_questions_of_a_file(tmp_path):
    lines = [
        "import os",
        "",
        '{"prompt": "def f():"}',
        json.dumps(
            {"question_id": 81, "category": "writing", "turns": ["Write.", "Shorter."], "reference": []}
        ),
        "{not JSON",
        '{"category": "", "prompt": ["One\u2028line", "two"]}',
    ]
    (tmp_path / "question.jsonl").write_text("\n".join(lines))
    assert questions(tmp_path / "question.jsonl") == [
        "import os",
        "def f():",
        "Write.",
        "{not JSON",
        "One\u2028line",
    ]


@pytest.mark.parametrize(
    "line", ['{"turns": []}', '{"turns": "text"}', '{"turns": ["a", ""]}', '{"prompt": 3}']
)
def test_an_object_without_text_is_bad_input(tmp_path, line):
    (tmp_path / "file").write_text(f"fine\n{line}\n")
    with pytest.raises(BadInput, match='line 2: neither a "prompt" nor "turns"'):
        questions(tmp_path / "file")


def test_the_template_is_the_tokenizers_own(chatting):
    messages = [{"role": "user", "content": "def f"}]
    own = chatting.tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    (prompt,) = asked(["def f"], chatting, chat=True)
    assert prompt.ids == list(own)
    assert prompt.ids != asked(["def f"], chatting)[0].ids


def test_no_template_one_that_fails_and_no_file_are_bad_input(monkeypatch):
    with pytest.raises(BadInput, match="has no chat template"):
        asked(["a"], shipped(), chat=True)
    monkeypatch.setattr(shipped().tokenizer, "chat_template", "{{ raise_exception('roles') }}")
    with pytest.raises(BadInput, match=r"chat template of .* fails: roles"):
        asked(["a"], shipped(), chat=True)
    with pytest.raises(BadInput, match="--chat is for runs with --prompts"):
        prompts(None, shipped(), 1, chat=True)


def test_a_line_of_speed_bench_is_read(tmp_path):
    """nvidia/SPEED-Bench as JSON lines: its turns, of which the first is asked; other keys are left."""
    path = tmp_path / "qualitative.jsonl"
    row = {"question_id": "a", "category": "coding", "sub_category": "python", "turns": ["Sort.", "Again."]}
    path.write_text(json.dumps({**row, "source": "s", "difficulty": "easy", "multiturn": True}) + "\n")
    assert questions(path) == ["Sort."]
