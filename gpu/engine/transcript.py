"""The record of a run: tokens and texts."""

from collections.abc import Callable, Sequence

from draftproof.gpu.engine.output import Step

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer decodes an incomplete character to."""


class Transcript:
    """Tokens and texts by prompt, and the counts of the last line of `gpu generate`."""

    def __init__(
        self, decode: Callable[[Sequence[int]], str], prompts: Sequence[str], stop: Sequence[str]
    ) -> None:
        self.decode, self.prompts, self.stop = decode, prompts, stop
        self.ids: list[list[int]] = [[] for _ in prompts]
        self.finished: list[str | None] = [None] * len(prompts)
        self.steps = self.row_steps = self.accepted = self.verified = 0
        self.printed = 0  # characters already shown of a single text
        self.error: str | None = None

    def keep(self, step: Step) -> None:
        """Adds a step."""
        self.steps += 1
        self.row_steps += len(step.rows)
        self.accepted += sum(step.accepted)
        self.verified += sum(step.kept or ())
        for row, tokens, why in zip(step.rows, step.emitted, step.finished, strict=True):
            self.ids[row] += tokens
            self.finished[row] = why

    def add(self, step: Step) -> str:
        """Adds a step; returns text to show: the new characters of a single text, or a batch's finished
        texts.
        """
        self.keep(step)
        if len(self.prompts) > 1:
            return "".join(self._whole(row) for row in step.rows if self.finished[row] is not None)
        text = self.text(0)
        if self.finished[0] is None:  # a stop string or a character may be incomplete
            hold = max((len(stop) - 1 for stop in self.stop), default=0)
            text = text[: len(text) - hold].rstrip(UNFINISHED)
        new = text[self.printed :]
        self.printed += len(new)
        return new

    def rest(self) -> str:
        """The text not yet shown when the run ends, also if it was interrupted."""
        if len(self.prompts) == 1:
            return self.text(0)[self.printed :]
        return "".join(self._whole(row) for row, why in enumerate(self.finished) if why is None)

    def text(self, row: int) -> str:
        """A row's text up to its stop string, without its end token."""
        tokens = self.ids[row]
        text = self.decode(tokens[:-1] if self.finished[row] == "end" else tokens)
        return text[: min((text.index(stop) for stop in self.stop if stop in text), default=len(text))]

    def _whole(self, row: int) -> str:
        return f"--- {row + 1}: {self.prompts[row]!r}\n{self.text(row)}\n"
