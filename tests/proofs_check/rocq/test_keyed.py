"""What KeyedChains.v says of a keyed call of token verification is what the Python's calls read."""

from collections import defaultdict

import pytest

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.verdicts.keys import texts
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.keys import keys
from draftproof.theory.keys.keyed import Keyed
from draftproof.theory.keys.run import Call
from draftproof.theory.verifiers import named

SCHEMES = ("dual-key", "gumbel", "keyed-acceptance", "dual-key,width=2")
PURPOSES = "draft", "accept", "extra"


def committed_name(scheme, purpose, text):
    """As in Rocq, and which choice of its place it is: of a chain always the first."""
    key, places = getattr(scheme, purpose), [scheme.context(text[:n]) for n in range(len(text))]
    return (key, scheme.context(text), 1) if key and scheme.context(text) not in places else None


def as_stated(scheme, path, read):
    """Whether a call reads the coins of `keyed_chain`, then those of `keyed_verify`, by their names."""
    *inner, leaf = [node.prefix for node in path]
    tossed = sum(purpose == "accept" for purpose, *_ in read)
    if tossed > len(inner):
        return False
    ends = {leaf} if tossed == len(inner) else set()
    ends |= {inner[tossed - 1]} if tossed else set()
    whole = [("draft", at) for at in inner] + [("accept", at) for at in inner[:tossed]]
    return any([each[:2] for each in read] == [*whole, ("extra", end)] for end in ends) and all(
        name == committed_name(scheme, purpose, at) for purpose, at, name in read
    )


def calls(monkeypatch, scheme, verifier="token"):
    """Of every call, on every branch of some laws over keys: the drafted path, and the coins that it reads as
    (purpose, text, name).
    """
    read, name = defaultdict(list), Call._name

    def noted(call, purpose):
        found = name(call, purpose)
        if purpose in PURPOSES:
            read[call].append((purpose, call.at, found))
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Call, "_name", noted)
        for instance in Randoms(Chain(2), 2, 3):
            texts(instance, named(verifier), scheme, 4)
    return [(call.draft.path, each) for call, each in read.items() if each[-1][0] == "extra"]


@pytest.mark.parametrize("words", SCHEMES)
def test_calls_read_the_coins_of_the_definition(monkeypatch, words):
    scheme = keys(words)
    made = calls(monkeypatch, scheme)
    assert len(made) > 100
    assert all(as_stated(scheme, *each) for each in made)


@pytest.mark.parametrize(
    "fresh",
    [
        lambda self, context, prefix, read: len(prefix) > 0 and context == self.context(prefix[:-1]),
        lambda self, context, prefix, read: len(prefix) > 1,
        lambda self, context, prefix, read: context in read,
    ],
)
def test_other_contexts_are_not(monkeypatch, fresh):
    scheme = keys("dual-key")
    monkeypatch.setattr(Keyed, "fresh", fresh)
    assert not all(as_stated(scheme, *each) for each in calls(monkeypatch, scheme))


def test_nor_is_block_verification(monkeypatch):
    scheme = keys("keyed-acceptance")
    assert not all(as_stated(scheme, *each) for each in calls(monkeypatch, scheme, "block"))
