"""The sampling controls of a run, the same for target and drafter."""

from dataclasses import dataclass

from torch import Tensor

from draftproof.gpu.rows import probabilities


@dataclass(frozen=True)
class Sampling:
    """Temperature (0 is greedy), top-k (0 keeps all), top-p, min-p, in the order of `draftproof.gpu.rows`."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    @property
    def only_heats(self) -> bool:
        """Whether the law is a softmax of the logits over the temperature."""
        return self.temperature > 0 and (self.top_k, self.top_p, self.min_p) == (0, 1, 0)

    def rows(self, logits: Tensor) -> Tensor:
        """Logits [..., V] to float32 probabilities."""
        return probabilities(logits, self.temperature, self.top_k, self.top_p, self.min_p)


PLAIN = Sampling()
"""The model's own law."""
