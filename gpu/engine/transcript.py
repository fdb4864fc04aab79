"""The record of a run: tokens and texts."""

from collections.abc import Callable, Sequence

from draftproof.gpu.engine.output import Step


class Transcript:
    """Tokens and texts by prompt, and the counts of the last line of `gpu generate`."""

    def __init__(
        self, decode: Callable[[Sequence[int]], str], prompts: Sequence[str], stop: Sequence[str]
    ) -> None:
        self.decode, self.prompts, self.stop = decode, prompts, stop
        self.ids: list[list[int]] = [[] for _ in prompts]
        self.finished: list[str | None] = [None] * len(prompts)
        self.steps = self.row_steps = self.accepted = self.verified = 0
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

    def text(self, row: int) -> str:
        """A row's text up to its stop string, without its end token."""
        tokens = self.ids[row]
        text = self.decode(tokens[:-1] if self.finished[row] == "end" else tokens)
        return text[: min((text.index(stop) for stop in self.stop if stop in text), default=len(text))]
