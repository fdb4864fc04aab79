"""How large the models are and how long they are trained."""

from dataclasses import dataclass

from transformers import LlamaConfig


@dataclass(frozen=True)
class Shape:
    """The size of a Llama decoder."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    feedforward: int

    def config(self, vocab: int, context: int, end: int) -> LlamaConfig:
        """The transformers configuration; `end` is the id of the end-of-text token."""
        return LlamaConfig(
            vocab_size=vocab,
            hidden_size=self.hidden,
            intermediate_size=self.feedforward,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=self.kv_heads,
            max_position_embeddings=context,
            tie_word_embeddings=True,
            bos_token_id=end,
            eos_token_id=end,
            pad_token_id=None,
        )


@dataclass(frozen=True)
class Preset:
    """Sizes and lengths of a training run; `steps` of the target, the drafter and the feature drafter."""

    vocab: int
    context: int
    megabytes: int
    target: Shape
    drafter: Shape
    batch: int
    steps: tuple[int, int, int]
    rate: float
    rollouts: int = 3


PRESETS = {
    "tiny": Preset(
        vocab=1024,
        context=256,
        megabytes=8,
        target=Shape(128, 4, 4, 2, 344),
        drafter=Shape(64, 2, 2, 1, 172),
        batch=8,
        steps=(800, 500, 250),
        rate=3e-3,
    ),
    "small": Preset(
        vocab=2048,
        context=256,
        megabytes=24,
        target=Shape(128, 4, 4, 2, 344),
        drafter=Shape(96, 2, 3, 1, 256),
        batch=8,
        steps=(1200, 1500, 300),
        rate=3e-3,
    ),
    "gpu": Preset(
        vocab=8192,
        context=1024,
        megabytes=256,
        target=Shape(512, 8, 8, 4, 1376),
        drafter=Shape(256, 2, 4, 2, 688),
        batch=32,
        steps=(2500, 1500, 1000),
        rate=1e-3,
    ),
}
"""`tiny` ships with the project, `small` takes minutes on two cores, `gpu` is for one large GPU."""
