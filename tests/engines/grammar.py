"""python -m tests.engines.grammar --environment DIR: vLLM's sampled drafts under a grammar, by a sharp test.

A scheduler that drops a drafted token which the grammar forbids lets the target draw instead: with p the
target's row under the grammar, q the drafter's whole row and A what is allowed, the token's law is
min(p, q) + (q(A) - sum min(p, q)) norm((p - q)+) + (1 - q(A)) p, not p. Both laws are known from rows by
transformers on the same weights, so a bet on that law against p decides: its wealth is at most 1 / error with
probability 1 - error if the server follows p, whenever it is read. One drafted token, second tokens of texts:
each is drafted.
"""

import sys
import tempfile
import time
from math import log, sqrt
from pathlib import Path

import click

from tests.engines import vllm
from tests.engines.__main__ import record
from tests.engines.engine import LETTERS, PAIR, Setting, Way, serving
from tests.engines.independent import Sampling

HOW = Sampling(alphabet=LETTERS)
SEARCHED, KEPT, TEXTS = 400, 3, 2_000
SURE = log(1_000)
"""Log of the wealth above which the law is wrong, with an error of 1e-3."""
COMMAND = "python -m tests.engines.grammar"
WAY = "one drafted token, letters alone"
DROPPED, KEPT_ON = (
    """            request.spec_token_ids = self.structured_output_manager.validate_tokens(
                request, spec_token_ids
            )
""",
    """            valid = self.structured_output_manager.validate_tokens(request, spec_token_ids)
            request.spec_token_ids = spec_token_ids[: len(valid) + 1]
""",
)
"""What fails in `update_draft_token_ids` of the scheduler, and what does not: there the first forbidden token
is verified, against a row that is masked, so it is rejected and its place is filled from norm((p - q)+).
"""


def kept_on(environment: Path) -> dict[Path, str]:
    """The files of a server that is right without a grammar, and the scheduler mended too."""
    [file] = environment.glob("lib/*/site-packages/vllm/v1/core/sched/scheduler.py")
    text = file.read_text(encoding="utf-8")
    if text.count(DROPPED) != 1:
        raise RuntimeError(f"{file} has changed: look whether it is mended")
    return {**vllm.mended(environment), file: text.replace(DROPPED, KEPT_ON)}


SAMPLED = vllm.speculative(1, **vllm.MODEL, draft_sample_method="probabilistic")
SERVERS = (
    Setting("grammar, sampled drafts, mended", SAMPLED, "", vllm.mended, "wrong"),
    Setting("grammar, sampled drafts, mended, forbidden ones verified", SAMPLED, "", kept_on),
)


class Rows:
    """Laws of the second token of a text, by transformers."""

    def __init__(self) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.models = [
            AutoModelForCausalLM.from_pretrained(str(PAIR / part), dtype=torch.float32).eval()
            for part in ("target", "drafter")
        ]
        tokenizer = AutoTokenizer.from_pretrained(str(PAIR / "target"))
        self.spelled = tuple(tokenizer.decode([token]) for token in range(len(tokenizer)))

    def logits(self, which: int, texts: list[list[int]]):
        """The last logits after texts of one length, shape (texts, V)."""
        import torch

        with torch.no_grad():
            return self.models[which](torch.tensor(texts)).logits[:, -1]

    def p(self, prompt: list[int]):
        """The law of the first token."""
        return HOW.row(self.logits(0, [prompt])[0], prompt, (), self.spelled)

    def pairs(self, prompt: list[int], first: list[int]):
        """For each first token, the laws of the second: as it should be, and if drafts are dropped."""
        texts = [[*prompt, token] for token in first]
        for token, target, drafter in zip(first, self.logits(0, texts), self.logits(1, texts), strict=True):
            p = HOW.row(target, prompt, (token,), self.spelled)
            q = drafter.double().softmax(-1)
            kept = q.minimum(p)
            rest = (p - q).clamp_min(0)
            allowed = q[p > 0].sum()
            yield p, kept + (allowed - kept.sum()) * rest / rest.sum() + (1 - allowed) * p


def telling(rows: Rows) -> list[list[int]]:
    """Of many prompts of three tokens, those with the largest mean KL between the two laws."""
    import torch

    torch.manual_seed(0)
    found = []
    for prompt in torch.randint(1, len(rows.spelled), (SEARCHED, 3)).tolist():
        first = rows.p(prompt).topk(12)
        ids = [int(t) for t, mass in zip(first.indices, first.values, strict=True) if mass > 0]
        gains = [
            float((other[p > 0] * (other[p > 0] / p[p > 0]).log()).sum())
            for p, other in rows.pairs(prompt, ids)
        ]
        found.append((sum(g * float(m) for g, m in zip(gains, first.values, strict=False)), prompt))
    best = sorted(found, reverse=True)[:KEPT]
    click.echo(f"mean KL of a text: {[round(gain, 4) for gain, _ in best]}, prompts {[x for _, x in best]}")
    return [prompt for _, prompt in best]


def judged(rows: Rows, texts: dict[tuple[int, ...], list[list[int]]]) -> tuple[float, float, float, int]:
    """(log wealth, its largest value so far, z, tokens) of the bet on dropped drafts; z is standard normal if
    the server is right.
    """
    wealth = most = excess = variance = 0.0
    count = 0
    for prompt, few in texts.items():
        first = sorted({text[0] for text in few if len(text) > 1})
        laws = dict(zip(first, rows.pairs(list(prompt), first), strict=True))
        for text in few:
            if len(text) > 1:
                p, other = laws[text[0]]
                odds = other[p > 0] / p[p > 0] - 1
                own = float(other[text[1]] / p[text[1]])
                wealth += log(own)
                most = max(most, wealth)
                excess += own - 1
                variance += float((p[p > 0] * odds**2).sum())
                count += 1
    return wealth, most, excess / sqrt(variance), count


@click.command()
@click.option("--environment", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--port", default=8143, show_default=True)
@click.option("--write", is_flag=True, help="Record what was found in docs/engines.json.")
def main(environment: Path, port: int, write: bool) -> None:
    """Draws and judges; exit status 0 if each server is as expected."""
    rows = Rows()
    prompts = telling(rows)
    ok = True
    for setting in SERVERS:
        started = time.monotonic()
        with (
            tempfile.TemporaryDirectory() as folder,
            serving(vllm.ENGINE, setting, environment.resolve(), port, Path(folder) / "log") as url,
        ):
            texts = {tuple(each): vllm.drawn(url, each, 2, Way(TEXTS, 100, HOW)) for each in prompts}
        wealth, most, z, count = judged(rows, texts)
        law = "wrong" if most > SURE else "right"
        ok &= law == setting.law
        said = f"log wealth {wealth:.1f}, at most {most:.1f}; {count} tokens"
        click.echo(f"{setting.name}: {law}; {said}; z {z:+.1f}")
        if write:
            found = {
                "verdict": "not asked",
                "said": said,
                "second": law,
                "rows_off": None,
                "command": COMMAND,
            }
            seconds = round(time.monotonic() - started)
            record(vllm.ENGINE, setting, {**found, "z": {WAY: [round(z, 1)]}, "seconds": seconds})
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
