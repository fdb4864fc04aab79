"""The texts of a run, put together from its steps."""

from collections.abc import Sequence
from typing import Any

from draftproof.gpu.engine.step import Step
from draftproof.gpu.models import Model

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer makes of bytes that are not a whole character yet."""


class Transcript:
    """Tokens and texts by prompt, and the counts of the last line."""

    def __init__(self, target: Model, prompts: Sequence[str], stop: Sequence[str]) -> None:
        self.decode, self.stop = target.tokenizer.decode, stop
        self.prompts = prompts
        self.ids: list[list[int]] = [[] for _ in prompts]
        self.finished: list[str | None] = [None] * len(prompts)
        self.steps = self.row_steps = self.accepted = 0
        self.said = 0  # characters of a single text
        self.shown: set[int] = set()  # texts of a batch
        self.error: str | None = None

    @property
    def tokens(self) -> int:
        """Tokens emitted in all."""
        return sum(map(len, self.ids))

    @property
    def block_efficiency(self) -> float:
        """Mean over rows and steps of accepted tokens plus the extra one; a last step counts uncut."""
        return 1 + self.accepted / self.row_steps if self.row_steps else 0.0

    def add(self, step: Step) -> str:
        """Takes a step in and returns what can now be shown."""
        self.steps += 1
        self.row_steps += len(step.rows)
        self.accepted += sum(step.accepted)
        for row, tokens, why in zip(step.rows, step.emitted, step.finished, strict=True):
            self.ids[row] += tokens
            self.finished[row] = why
        if len(self.prompts) == 1:
            return self._more()
        done = [row for row in step.rows if self.finished[row] is not None]
        return "".join(self._whole(row) for row in done)

    def rest(self) -> str:
        """What has not been shown yet when the run is over, early or not."""
        if len(self.prompts) == 1:
            text = self.text(0)
            return text[self.said :]
        return "".join(self._whole(row) for row in range(len(self.prompts)) if row not in self.shown)

    def text(self, row: int) -> str:
        """A row's text, without its end token, and up to a stop string."""
        tokens = self.ids[row]
        text = self.decode(tokens[:-1] if self.finished[row] == "end" else tokens)
        found = [text.index(stop) for stop in self.stop if stop in text]
        return text[: min(found)] if found else text

    def answer(self) -> dict[str, Any]:
        """The JSON answer of the texts and counts."""
        outputs = [
            {
                "prompt": prompt,
                "text": self.text(row),
                "tokens": self.ids[row],
                "finished": self.finished[row],
            }
            for row, prompt in enumerate(self.prompts)
        ]
        return {
            "outputs": outputs,
            "tokens": self.tokens,
            "steps": self.steps,
            "block_efficiency": round(self.block_efficiency, 4),
            "error": self.error,
        }

    def _more(self) -> str:
        """What a single text has grown by, save what a stop string or a character may still be forming."""
        text = self.text(0)
        if self.finished[0] is None:
            hold = max((len(stop) - 1 for stop in self.stop), default=0)
            text = text[: len(text) - hold].rstrip(UNFINISHED)
        new = text[self.said :]
        self.said += len(new)
        return new

    def _whole(self, row: int) -> str:
        self.shown.add(row)
        return f"--- {row + 1}: {self.prompts[row]!r}\n{self.text(row)}\n"
