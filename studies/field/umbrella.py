"""Infini-AI-Lab/UMbreLLa: rounds of `StaticSpeculationEngine.verify` on a tree of one drafted child. Its
sampling kernel is replaced by inversion of the uniforms that it is given.
"""

from types import SimpleNamespace

import torch
from clones import Tokens, clone
from engines import functions, method

FOLDER = clone("Infini-AI-Lab/UMbreLLa", "umbrella")
FILE = FOLDER / "speculation/static_speculation_engine.py"
SIZE = 16


def inverted(logits, uniforms, top_k, top_p):
    sums = logits.softmax(-1).cumsum(-1)
    return (uniforms[0, :, None] >= sums[:, :-1]).sum(-1), None


class Net(Tokens):
    """Its cache is the tokens by their place; the tree's child is moved after it is accepted."""

    kv_cache = property(lambda self: self)

    def inference(self, input_ids, storage_ids, **_):
        return self.at(storage_ids, input_ids[0])[None]

    def gather_kv_incremental(self, places, start):
        self.ids.update({start + n: self.ids[place] for n, place in enumerate(places.tolist())})


names = {"torch": torch, "flashinfer": SimpleNamespace()}
names["flashinfer"].sampling = SimpleNamespace(top_k_top_p_sampling_from_logits=inverted)
functions(FOLDER / "speculation/speculation_utils.py", ("find_first_element_position",), names)


def generate(target, draft, prompt, length):
    """Its first token is always greedy; it counts as the end of the prompt here."""
    engine = SimpleNamespace(
        target_model=Net(target, 2),
        draft_model=SimpleNamespace(kv_cache=SimpleNamespace(gather_kv_incremental=lambda *_: None)),
        tokens=torch.zeros(1, SIZE, dtype=torch.int64),
        storage_ids=torch.arange(SIZE),
        position_ids=torch.arange(SIZE)[None],
        attn_mask=torch.ones(2 * SIZE, 2 * SIZE),
        attn_mask_this_iter=torch.ones(SIZE, SIZE),
        depth=torch.tensor([0, 1]),
        parents=torch.tensor([0, 0]),
        tree_mask=torch.ones(2, 2).tril() == 1,
        node_in_path=torch.tensor([1, 2]),
        tree_size=2,
        max_length=SIZE,
        num_nodes=1,
        repetition_penalty=1.0,
        temperature=1.0,
        topk=-1,
        topp=1.0,
        eos_tokens=[],
        uniform_samples=torch.rand(3, 2),  # as line 131 draws them, once
    )
    engine.target_model.at([0], [0])
    verify = method(FILE, "verify", names)
    while engine.num_nodes < 1 + length:
        text = engine.tokens[0, 2 : engine.num_nodes + 1].tolist()
        drafted = draft.row(text).softmax(-1).multinomial(1)
        engine.tokens[0, engine.num_nodes + 1] = drafted
        engine.num_draft_tokens_this_iter = engine.num_nodes + 2
        verify(engine)
    return engine.tokens[0, 2 : engine.num_nodes + 1]
