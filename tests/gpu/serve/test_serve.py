"""The server's answers, without a network."""

import math

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.verify import named
from tests.gpu.serve.server import Server, app


@pytest.fixture(scope="module")
def shipped():
    """The pair, loaded once."""
    return pair(None, None, "cpu")


@pytest.fixture(scope="module")
def ask(shipped):
    """Posts a body: (status, answer)."""
    client = TestClient(app(Server(*shipped, named("block"), structure("chain:3"))))

    def post(path="/v1/completions", **body):
        answer = client.post(path, json=body)
        return answer.status_code, answer.json()

    post.client = client
    return post


def test_choices_of_several_prompts(ask):
    status, answer = ask(prompt=["def f", [5, 6]], n=3, max_tokens=4, ignore_eos=True)
    assert status == 200
    assert [each["index"] for each in answer["choices"]] == list(range(6))
    assert answer["usage"]["completion_tokens"] == 24
    assert {each["finish_reason"] for each in answer["choices"]} == {"length"}


def test_a_seed_repeats_and_none_does_not(ask):
    def texts(**more):
        return [each["text"] for each in ask(prompt="import ", n=4, max_tokens=8, **more)[1]["choices"]]

    assert texts(seed=3) == texts(seed=3) != texts(seed=4)
    assert texts() != texts()
    assert len(set(texts(seed=3))) > 1


def test_log_probabilities_are_the_plain_targets(ask, shipped):
    more = {"return_token_ids": True, "return_tokens_as_token_ids": True, "logprobs": 1024}
    asked = {"prompt": "import ", "max_tokens": 3, "temperature": 0.5, "top_k": 5, "presence_penalty": 1.0}
    [choice] = ask(**asked, **more)[1]["choices"]
    rows = choice["logprobs"]["top_logprobs"]
    assert [sum(map(math.exp, row.values())) for row in rows] == pytest.approx([1] * 3, abs=1e-4)
    assert choice["logprobs"]["tokens"] == [f"token_id:{x}" for x in choice["token_ids"]]
    ahead = [*choice["prompt_token_ids"], *choice["token_ids"][:2]]
    [forced] = ask(prompt=ahead, max_tokens=1, **more)[1]["choices"]
    assert forced["logprobs"]["top_logprobs"][0] == pytest.approx(rows[2], abs=1e-4)


def test_stop_greedy_and_bias(ask):
    [choice] = ask(prompt="def f(", max_tokens=40, stop=[")"], seed=1)[1]["choices"]
    assert ")" not in choice["text"]
    greedy = ask(prompt="import ", n=2, max_tokens=5, temperature=0)[1]["choices"]
    assert greedy[0]["text"] == greedy[1]["text"]
    more = {"return_token_ids": True, "max_tokens": 2}
    [biased] = ask(prompt="import ", logit_bias={"7": 100}, **more)[1]["choices"]
    assert biased["token_ids"] == [7, 7]


def test_chat_and_models(ask):
    messages = [{"role": "user", "content": "hello"}]
    answer = ask("/v1/chat/completions", messages=messages, max_tokens=2, logprobs=True, top_logprobs=3)[1]
    [choice] = answer["choices"]
    assert choice["message"]["role"] == "assistant"
    assert [len(each["top_logprobs"]) for each in choice["logprobs"]["content"]] == [3, 3]
    assert ask.client.get("/v1/models").json()["data"][0]["id"] == "shipped"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "prompt"),
        ({"prompt": ""}, "empty"),
        ({"prompt": [99999]}, "prompt"),
        ({"prompt": "x", "n": 1000}, "n must be from 1"),
        ({"prompt": "x", "stream": True}, "stream"),
        ({"prompt": "x", "response_format": {"type": "json_object"}}, "response_format"),
        ({"prompt": "x" * 5000}, "takes 256"),
    ],
)
def test_what_cannot_be_served_is_status_400(ask, body, said):
    status, answer = ask(**body)
    assert status == 400
    assert said in answer["error"]["message"]


def test_a_body_that_is_not_json_is_status_400(ask):
    assert ask.client.post("/v1/completions", content=b"{").status_code == 400
