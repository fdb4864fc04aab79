"""Tokens a call in the long run: shaped block verification beside block verification.

    python -m benchmarks.long_run --calls 60 --prompts 200
    python -m benchmarks.long_run --kind pair --calls 24 --prompts 96
    python -m benchmarks.long_run --pooled --calls 60 --prompts 240
    python -m benchmarks.long_run --leaf "last row" --calls 60 --prompts 240 --kind characters
    python -m benchmarks.long_run --trees 20
    python -m benchmarks.long_run --search

Random independent rows (V = 10, the same after every prefix; p and q Dirichlet with concentration 1, q partly
p), and n-grams of the text of Python's own documentation, characters and words: the target reads more tokens
back than the proposal. From each prompt, or each pair of rows, both verifiers decode. A call's tokens are
counted as their mean over several drafts, given the state; the state goes on by one more. What a draft keeps
on average after each context of the text is a control variate: in the long run both verifiers have the same.
Intervals are 95 %, clustered by prompt or pair. With --kind pair: the pair of models that is shipped, at
temperature 1, both verifiers from the same prompts; a call's tokens are their mean given draft and state, and
there is no control variate. With --pooled: pooled block verification (`benchmarks/pooled.py`) beside
block verification on the same texts of the target, from how often a call starts at each text; no call is
drawn. With --leaf: shaped block verification that reads another row at the leaf than the proposal's: the last
drafted row, or the target's row there, squared. With --trees: rules shaped at every leaf beside the rules
themselves, on the toy and on so many random pairs of rows with V = 2, the same after every prefix; gains are
estimates over the most probable states. With --search: small rational rows on which shaped-block is below
block.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from pydoc_data.topics import topics
from typing import Any

import numpy as np
from flint import fmpq

from benchmarks.pooled import Pooled
from draftproof.simulators.instances.randoms import Dirichlet, Randoms
from draftproof.simulators.laws.calls import Calls
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.shared.leaf_shaping import extended

TOY = ["1/3", "2/3"], ["2/3", "1/3"]
DEPTHS, DRAFTS, FIRST = (1, 2, 4, 8), 4, 4  # calls before FIRST are not counted
VERIFIERS = "block", "shaped-block"


class Model:
    """Rows as numpy arrays by the last `order` tokens."""

    def __init__(self, vocab: int, order: int, row: Any):
        self.vocab, self.order, self.row = vocab, order, cache(row)

    def __getitem__(self, prefix: Prefix) -> np.ndarray:
        return self.row(prefix[len(prefix) - self.order :])


class Random:
    """The oracle that draws from numpy rows."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng

    def choose(self, row: np.ndarray) -> int:
        sums = np.cumsum(row)
        return int(np.searchsorted(sums, self.rng.random() * sums[-1], side="right"))

    def accept(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)


class Guessed:
    """The proposal's rows, but at the texts of one length another one, which needs no further drafting."""

    def __init__(self, p: Any, q: Any, end: int, leaf: str):
        self.p, self.q, self.end, self.leaf = p, q, end, leaf

    def __getitem__(self, prefix: Prefix) -> np.ndarray:
        if len(prefix) != self.end or self.leaf == "q":
            return self.q[prefix]
        return self.q[prefix[:-1]] if self.leaf == "last row" else self.p[prefix] ** 2


def decoded(
    p: Model, q: Model, depth: int, name: str, prompt: Prefix, calls: int, seed: int, leaf: str
) -> tuple[float, float]:
    """From one prompt: the tokens that a call emits, mean over calls, and the mean of `ease` over the text's
    contexts, which in the long run is the same for both verifiers.
    """
    verifier, chain, oracle = named(name), Chain(depth), Random(np.random.default_rng(seed))
    text, target, counted = prompt, p, 0.0
    for call in range(FIRST + calls):
        if call >= FIRST:
            counted += np.mean([kept(oracle, target, q, depth, text) for _ in range(DRAFTS)])
        draft = chain.draw(oracle, q, text)
        proposal = Guessed(p, q, len(text) + depth, leaf)
        if verifier.reads_leaves:
            extended(draft, proposal)
        stop, row = verifier.verify(oracle, draft, target)
        if verifier.carry:
            target = verifier.carry(target, proposal, draft, stop)
        text = (*stop.prefix, oracle.choose(row))
    at = range(len(prompt), len(text))
    return 1 + counted / calls, float(np.mean([ease(p, q, depth, text[max(i - p.order, 0) : i]) for i in at]))


@cache
def ease(p: Model, q: Model, depth: int, context: Prefix) -> float:
    """What one fixed draft after a context keeps on average."""
    return kept(Random(np.random.default_rng(context)), p, q, depth, context)


def kept(oracle: Random, p: Any, q: Model, depth: int, text: Prefix) -> float:
    """The tokens of a draft that are accepted on average, sum of E[w_l], each given the tokens before."""
    w, out = 1.0, 0.0
    for left in range(depth, 0, -1):
        target, proposal = p[text], q[text]
        out += np.minimum(w * target, proposal).sum()
        if left > 1:
            x = oracle.choose(proposal)
            w = min(1.0, w * target[x] / proposal[x])
            text = (*text, x)
    return out


class Unshaped(Pooled):
    """Block verification, as a function of the text."""

    def rows(self, starting: Any, whole: Any, p: Any, q: Any) -> Any:
        return p, p


def started(p: Any, q: Any, depth: int, text: Prefix, first: int) -> list[float]:
    """How often a call starts at the text's prefixes, from one of so many tokens on: pooled, and block."""
    sums = []
    for kind in (Unshaped, Pooled):
        found = kind(p, q, first - FIRST * (depth + 1), depth)
        sums.append(
            sum(float(found.at(text[:n]).starting) for n in range(found.start, len(text)) if n >= first)
        )
    return sums


def by_text(kind: str, depth: int, prompts: int, calls: int) -> list[Any]:
    """A row of the table, as `compared`."""
    burnt, tokens, sums = FIRST * (depth + 1), 2 * calls, []
    for seed, (p, q, prompt) in enumerate(cases(kind, prompts)):
        oracle, text = Random(np.random.default_rng(seed)), prompt
        if kind == "pair":
            begin, tokens = p.first + burnt, len(prompt) - p.first - burnt
        else:
            begin = len(prompt) + burnt
            while len(text) < begin + tokens:
                text = (*text, oracle.choose(p[text]))
        sums.append(started(p, q, depth, text, begin))
    values = np.array(sums)
    block, pooled = tokens * len(values) / values.sum(axis=0)
    gain = pooled / block - 1
    off = (values[:, 0] - (1 + gain) * values[:, 1]) / values[:, 1].mean()
    half = 1.96 * off.std(ddof=1) / np.sqrt(len(off))
    percent = [round(100 * (gain + sign * half), 2) for sign in (-1, 1)]
    return [kind, depth, round(block, 3), round(pooled, 3), round(100 * gain, 2), percent]


class Given:
    """The rows after the prefixes of one text."""

    def __init__(self, rows: np.ndarray, first: int):
        self.rows, self.first = rows, first

    def __getitem__(self, prefix: Prefix) -> np.ndarray:
        return self.rows[len(prefix) - self.first]


def shipped_pair(prompts: int) -> tuple[Any, Any, list[list[int]]]:
    """The pair of models that is shipped, on one thread, and the ends of so many prompts."""
    import torch

    from draftproof.gpu.drafters.choose import pair
    from draftproof.gpu.engine.prompts import prompts as shipped

    torch.set_num_threads(1)
    target, drafter = pair(None, None, "cpu")
    return target, drafter, [each.ids[-48:] for each in shipped(None, target, prompts)]


def with_models(depth: int, prompts: int, calls: int) -> np.ndarray:
    """[prompts, verifiers, 2], as `decoded`, of the shipped pair; the control is 0."""
    from draftproof.gpu import verify
    from draftproof.gpu.checks.models.acceptance import mean_accepted
    from draftproof.gpu.drafters.structures import structure
    from draftproof.gpu.engine.loop import generate

    target, drafter, given = shipped_pair(prompts)
    values = np.zeros((len(given), len(VERIFIERS), 2))
    for i, name in enumerate(VERIFIERS):
        options = {"verifier": verify.named(name), "structure": structure(f"chain:{depth}")}
        most = (FIRST + calls) * (depth + 1)
        steps = generate(target, drafter, given, **options, max_new_tokens=most, ignore_end=True, seed=depth)
        for number, step in zip(range(FIRST + calls), steps, strict=False):
            if number >= FIRST:
                values[:, i, 0] += 1 + mean_accepted(options["verifier"], step).numpy()
    return values / calls


def texts_of_pair(prompts: int) -> Iterator[Any]:
    """(target's rows, drafter's rows, prompt and text of the target) of each prompt of the shipped pair."""
    import torch

    from draftproof.gpu import verify
    from draftproof.gpu.engine.loop import generate
    from draftproof.gpu.engine.output import texts as emitted

    target, drafter, given = shipped_pair(prompts)
    options = {"verifier": verify.named("token"), "structure": None}
    for at in range(0, len(given), 64):
        part = given[at : at + 64]
        steps = generate(target, None, part, **options, max_new_tokens=200, ignore_end=True, seed=at)
        for prompt, text in zip(part, emitted(steps, len(part)), strict=True):
            ids = torch.tensor([[*prompt, *text]])
            with torch.inference_mode():
                rows = [
                    model.network(input_ids=ids)
                    .logits[0, len(prompt) - 1 :, : target.vocab]
                    .double()
                    .softmax(-1)
                    for model in (target, drafter.model)
                ]
            yield *(Given(each.numpy(), len(prompt)) for each in rows), (*prompt, *text)


def ngrams(tokens: list[int], vocab: int, order: int) -> Model:
    """Interpolated n-grams: a context's counts, with as much weight as it has distinct successors given to
    the next shorter context (Witten and Bell).
    """
    counts: list[dict[Prefix, Counter]] = [defaultdict(Counter) for _ in range(order + 1)]
    for i in range(order, len(tokens)):
        for n in range(order + 1):
            counts[n][tuple(tokens[i - n : i])][tokens[i]] += 1

    def row(context: Prefix) -> np.ndarray:
        out = np.full(vocab, 1 / vocab)
        for n in range(len(context) + 1):
            seen = counts[n].get(context[len(context) - n :])
            if not seen:
                break
            total = seen.total() + len(seen)
            out = out * len(seen) / total
            for x, count in seen.items():
                out[x] += count / total
        return out

    return Model(vocab, order, row)


def texts(kind: str) -> tuple[list[int], int]:
    """The text as ids of characters, or of its 2,000 most frequent words and one for the rest."""
    text = "\n".join(topics[key] for key in sorted(topics))
    units = list(text) if kind == "characters" else text.lower().split()
    known = [unit for unit, _ in Counter(units).most_common(120 if kind == "characters" else 2000)]
    ids = {unit: i for i, unit in enumerate(known)}
    return [ids.get(unit, len(ids)) for unit in units], len(ids) + 1


def cases(kind: str, prompts: int) -> Iterator[tuple[Model, Model, Prefix]]:
    """(p, q, prompt) of every cluster."""
    rng = np.random.default_rng(0)
    if kind == "independent rows":
        for _ in range(prompts):
            p, other = rng.dirichlet(np.ones(10), 2)
            q = p + rng.choice((0.25, 0.5, 1)) * (other - p)
            yield Model(10, 0, lambda _, row=p: row), Model(10, 0, lambda _, row=q: row), ()
        return
    if kind == "pair":
        yield from texts_of_pair(prompts)
        return
    tokens, vocab = texts(kind)
    long, short = (4, 2) if kind == "characters" else (2, 1)
    p, q = ngrams(tokens, vocab, long), ngrams(tokens, vocab, short)
    for at in rng.integers(long, len(tokens), prompts):
        yield p, q, tuple(tokens[at - long : at])


def compared(kind: str, depth: int, prompts: int, calls: int, leaf: str = "q") -> list[Any]:
    """One row of the table: the two means, and the gain with its interval."""
    values = (  # [prompts, verifiers, 2]
        with_models(depth, prompts, calls)
        if kind == "pair"
        else np.array(
            [
                [decoded(p, q, depth, name, prompt, calls, seed, leaf) for name in VERIFIERS]
                for seed, (p, q, prompt) in enumerate(cases(kind, prompts))
            ]
        )
    )
    tokens, control = values[..., 0], values[..., 1]
    if kind in ("characters", "words"):  # with independent rows every context is the same
        slope = np.polyfit(control.ravel(), tokens.ravel(), 1)[0]
        tokens = tokens - slope * (control - control.mean())
    block, shaped = tokens.mean(axis=0)
    off = (tokens[:, 1] - shaped / block * tokens[:, 0]) / block
    gain, half = shaped / block - 1, 1.96 * off.std(ddof=1) / np.sqrt(len(off))
    percent = [round(100 * (gain + sign * half), 2) for sign in (-1, 1)]
    return [kind, depth, round(block, 3), round(shaped, 3), round(100 * gain, 2), percent]


SHAPES = "[[],[]]", "[[[]],[[]]]", "[[[]],[]]", "[[],[[]]]"


def on_trees(shape: str, replacement: bool, count: int) -> Iterator[list[Any]]:
    """Rows (shape, draws, rule, its tokens a call on the toy, when shaped, and over random rows the mean gain
    in %, its interval, how often it is behind).
    """
    draft = Tree(json.loads(shape), replacement)
    given = Randoms(Chain(1), 2, count, law=Dirichlet())
    pairs = [TOY, *((each.target[()], each.proposal[()]) for each in given)]
    rules = {"traversal": "traversal", "specinfer" if replacement else "rrs": "recursive"}
    for plain, name in (rules | ({"priority": "priority"} if replacement else {})).items():
        rates = np.array(
            [
                [
                    Calls(context_free(p, q, draft).floats(), named(rule)).long_run(150).value
                    for rule in (plain, f"shaped-{name}")
                ]
                for p, q in pairs
            ]
        )
        gains = 100 * (rates[1:, 1] / rates[1:, 0] - 1)
        half = 1.96 * gains.std(ddof=1) / np.sqrt(count)
        yield [
            *(shape, "i.i.d." if replacement else "without replacement", name, *rates[0].round(4)),
            *(round(gains.mean(), 2), [round(gains.mean() + each, 2) for each in (-half, half)]),
            int((gains < -1e-6).sum()),
        ]


def search() -> list[dict[str, Any]]:
    """Instances with V = 2, rows by the last token, entries 0, 1/3, 1/2, 2/3, 1: those where it is behind."""
    found = []
    for depth in (1, 2):
        for a, b, c, d in product((fmpq(0), fmpq(1, 3), fmpq(1, 2), fmpq(2, 3), fmpq(1)), repeat=4):
            tables = [
                Table(2, {(): (x, 1 - x), (0,): (x, 1 - x), (1,): (y, 1 - y)}) for x, y in ((a, b), (c, d))
            ]
            instance = Instance(*tables, Chain(depth))
            block, shaped = (Calls(instance, named(name)).long_run(200) for name in VERIFIERS)
            if shaped.value < block.value - 1e-8:
                rows = {"p(0 | 0)": a, "p(0 | 1)": b, "q(0 | 0)": c, "q(0 | 1)": d}
                found.append(
                    {"depth": depth, **{name: str(x) for name, x in rows.items()}}
                    | {"block": block.value, "shaped-block": shaped.value, "exact": shaped.bounds is not None}
                )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument(
        "--kind", choices=["independent rows", "characters", "words", "pair"], action="append"
    )
    parser.add_argument("--depth", type=int, action="append")
    parser.add_argument("--leaf", choices=["q", "last row", "sharper"], default="q")
    parser.add_argument("--trees", type=int, metavar="COUNT")
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--pooled", action="store_true")
    given = parser.parse_args()
    if given.search:
        for each in search():
            print(json.dumps(each))
        return
    if given.trees:
        for shape, replacement in product(SHAPES, (True, False)):
            for row in on_trees(shape, replacement, given.trees):
                print(json.dumps(row), flush=True)
        return
    for kind in given.kind or ("independent rows", "characters", "words"):
        for depth in given.depth or DEPTHS:
            sizes = given.prompts, given.calls
            row = by_text(kind, depth, *sizes) if given.pooled else compared(kind, depth, *sizes, given.leaf)
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
