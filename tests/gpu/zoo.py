"""What the engine makes of every architecture of causal language models.

Run as `python -m tests.gpu.zoo` to print docs/architectures.md, with `--write` to renew it, or with names to
see what the engine makes of these.
"""

import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from io import StringIO
from pathlib import Path

import torch
import transformers
from transformers.utils import logging

from draftproof.gpu.checks.models.greedy import Greedy, Reference, compare
from draftproof.gpu.checks.row_test import checked
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.decoding import misfit
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.network.models import Model
from draftproof.gpu.verify import named
from draftproof.theory.errors import BadInput
from tests.gpu.architectures import LEFT_OUT, VOCAB, WINDOW, model, names
from tests.gpu.parameters import SETS, processors

PAGE = Path(__file__).parents[2] / "docs" / "architectures.md"
HEADING = """# Architectures

{}, transformers {}: {} small networks with random weights, made by `python -m tests.gpu.zoo --write`.

Each was read by the [row test](real-models.md#the-row-test) and, if it passed, decoded greedily with chains,
trees, merged paths and top-k trees, as far as its way of reading allows. The texts, {:,} in all, are those of
transformers' own `generate` (without a cache for chains only); they cross attention
windows of 24 tokens and end at different times. They are transformers' own again with each sampling
parameter, on chains and trees; {:,} of these texts are changed by their parameter:
{}.
A variant has a word after its name, such as `falcon-alibi`. Real checkpoints pass the row test
again when they are loaded.
"""
READS = {
    "trees": "Trees and chains",
    "chains": "Chains only, the whole text in each pass",
    "refused": "Refused",
}


def near(of: Model) -> Model:
    """The model with a little noise on its weights: a drafter that is right now and then."""
    made = deepcopy(of.network)
    torch.manual_seed(1)
    for weight in made.parameters():
        weight += 0.02 * torch.randn_like(weight)
    return replace(of, name="near", network=made)


DRAFTS = {"chain:3": "block", "tree:2x2": "traversal", "paths:2x3": "traversal", "top-k:2x3x6": "one-hot"}
"""Drafts that must not change a greedy text, each with a verifier for it."""


def reference(of: Model, tokens: int = 16) -> Reference:
    """Greedy texts that transformers generates. One prompt is longer than a window and one text grows beyond
    it; a token of the last text becomes an end token, so that the texts end at different times.
    """
    draw = torch.Generator().manual_seed(1)
    sizes = [min(size, max(1, of.context - tokens)) for size in (WINDOW - 6, WINDOW + 8, 3)]
    prompts = [torch.randint(2, VOCAB, (size,), generator=draw).tolist() for size in sizes]
    last = Reference(of, prompts[-1:], tokens).texts[0]
    of.network.generation_config.eos_token_id = last[len(last) // 2]
    return Reference(of, prompts, tokens)


def greedy(of: Model) -> dict[str, Greedy]:
    """The engine's greedy texts, by draft, compared with the reference."""
    told, drafter, found = reference(of), ModelDrafter(near(of)), {}
    for draft, verifier in DRAFTS.items():
        shape = structure(draft)
        if misfit(named(verifier), shape, drafter, of) is None:
            decode = partial(generate, of, drafter, verifier=named(verifier), structure=shape)
            found[draft] = compare(told, decode)
    return found


FILTERS = "filters"
"""Top-k, top-p and min-p, which change no greedy text."""


def parameters(of: Model, drafts: Sequence[str] = ("chain:3", "tree:2x2")) -> dict[str, tuple[int, bool]]:
    """For each sampling parameter: how many of the engine's greedy texts it changes, on the drafts that the
    model reads, and whether all texts are transformers' own. One bad word is in the plain text.
    """
    plain, drafter = reference(of), ModelDrafter(near(of))
    shapes = [(structure(draft), named(DRAFTS[draft])) for draft in drafts]
    fit = [(shape, verifier) for shape, verifier in shapes if misfit(verifier, shape, drafter, of) is None]
    found: dict[str, tuple[int, bool]] = {}
    words = {"bad_words_ids": [*SETS["bad words"]["bad_words_ids"], max(plain.texts, key=len)[:2]]}
    for name, settings in {**SETS, "bad words": words, FILTERS: {}}.items():
        own = Reference(of, plain.prompts, plain.tokens, processors(**settings))
        if name == FILTERS:
            own.sampling = replace(own.sampling, top_k=3, top_p=0.5, min_p=0.1)
        changed = sum(map(list.__ne__, own.texts, plain.texts))
        made = [
            compare(own, partial(generate, of, drafter, verifier=verifier, structure=shape))
            for shape, verifier in fit
        ]
        found[name] = changed * len(made), all(each.ok for each in made)
    return found


@dataclass(frozen=True)
class Entry:
    """What the engine makes of an architecture: "trees", "chains" or "refused", and why not trees; how many
    `texts` were compared, and how many that sampling parameters `changed`.
    """

    name: str
    kind: str
    reads: str
    why: str = ""
    texts: int = 0
    wrong: tuple[str, ...] = ()
    changed: int = 0


def entry(name: str, all_parameters: bool = True) -> Entry:
    """The row test of one architecture and, if it passes, the greedy comparison, also with all sampling
    parameters.
    """
    made = model(name)
    kind = type(made.network).__name__
    with redirect_stdout(StringIO()):  # some networks print
        try:
            made = checked(made)
        except BadInput as error:
            return Entry(name, kind, "refused", str(error).split(": ", 2)[-1])
        found = greedy(made)
        more = parameters(made) if all_parameters else {}
    wrong = [draft for draft, each in found.items() if not each.ok]
    wrong += [name for name, (_, ok) in more.items() if not ok]
    reads = "chains" if made.only_chains else "trees"
    return Entry(
        name,
        kind,
        reads,
        made.why or "",
        sum(each.texts for each in found.values()),
        tuple(wrong),
        sum(changed for changed, _ in more.values()),
    )


def page(entries: Sequence[Entry]) -> str:
    """docs/architectures.md."""
    told = {reads: [each for each in entries if each.reads == reads] for reads in READS}
    texts, more = sum(each.texts for each in entries), sum(each.changed for each in entries)
    sets = ", ".join((*SETS, FILTERS))
    lines = [HEADING.format(date.today(), transformers.__version__, len(entries), texts, more, sets)]
    for reads, heading in READS.items():
        lines += [f"## {heading} ({len(told[reads])})", ""]
        if reads == "trees":
            lines += [", ".join(f"`{each.name}`" for each in told[reads]) + ".", ""]
            continue
        reasons = defaultdict[str, list[str]](list)
        for each in told[reads]:
            reason, detail = reasoned(each.why)
            reasons[reason].append(f"`{each.name}` ({detail})")
        lines += [f"* {reason}: {', '.join(found)}." for reason, found in sorted(reasons.items())]
        lines += [""]
    lines += [
        f"Not made small, most of them with parts for images or audio: {', '.join(sorted(LEFT_OUT))}.",
        "",
    ]
    return "\n".join(lines)


def reasoned(why: str) -> tuple[str, str]:
    """The kind of a reason why a network reads no trees, or nothing, and what is particular to this network.

    >>> reasoned("with tree:2x2, log-probabilities are up to 5.5e+00 away from those of plain passes")
    ('log-probabilities differ from those of plain passes, by at most', '5.5')
    >>> reasoned("layers of type conv cannot take back rejected tokens")
    ('layers that cannot take back rejected tokens', 'conv')
    """
    if off := re.search(r"up to (\S+) away", why):
        return "log-probabilities differ from those of plain passes, by at most", f"{float(off[1]):.2g}"
    if layers := re.search(r"layers of type (.+) cannot take back", why):
        return "layers that cannot take back rejected tokens", layers[1]
    failure = re.search(r"a pass fails: (\w+)", why)
    return "a pass fails", failure[1] if failure else why


def main(given: Sequence[str]) -> None:
    """Prints the page, or writes it, or prints what is made of the architectures given."""
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    chosen = [name for name in given if name != "--write"]
    entries = []
    for name in chosen or names():
        entries.append(entry(name))
        print(entries[-1], file=sys.stderr)
    if "--write" in given:
        PAGE.write_text(page(entries))
    elif not chosen:
        print(page(entries))


if __name__ == "__main__":
    main(sys.argv[1:])
