"""Infini-AI-Lab/Sequoia: `SpecTree`, which computes in float16. Its trees end at the ids 0 and 2. As a
script: several rounds with one child, or one round with two.
"""

import sys

import torch
from clones import chain, importable, judge

from draftproof.simulators import audit

importable("Infini-AI-Lab/Sequoia", absent=("Engine", "Engine.Engine"))  # its engines are for CUDA
import utils
from Tree.SpecTree import SpecTree

SIZE = 12


class Engine:  # the cache is the tokens by their place; a token sees what its mask does not hide
    def __init__(self, model):
        self.model, self.dtype, self.max_length, self.tokens = model, model.dtype, SIZE, {}
        self.engine = self.kv_cache = self

    def inference(self, input_ids, storage_ids, position_ids, attn_mask):
        self.tokens.update(zip(storage_ids.tolist(), input_ids[0].tolist(), strict=True))
        seen = [(mask == 0).nonzero().view(-1).tolist() for mask in attn_mask[0, 0]]
        return torch.stack([self.model.row([self.tokens[at] for at in places][1:]) for places in seen])[None]

    graph_inference = inference

    def gather_kv_incremental(self, places, start):
        self.tokens.update({start + n: self.tokens[place] for n, place in enumerate(places)})


def generate(target, draft, prompt, length, children=1):
    mask = torch.eye(children + 1)
    mask[:, 0] = 1
    tree = SpecTree(
        Engine(draft),
        Engine(target),
        prompt[0],
        1.0,
        1.0,
        max_length=SIZE,
        max_target_seq=SIZE,
        vocab_size=target.rows.vocab,
        residual_graph=utils.get_residual,
        position_ids=torch.zeros(SIZE).long(),
        attn_mask=torch.full((SIZE, SIZE), torch.finfo(torch.float16).min, dtype=torch.float16),
        grow_map={
            "roots": [[0], [0]],
            "branches": [[children]],
            "mask": mask,
            "size": children + 1,
            "Successors": [[*range(1, children + 1)], *[[]] * children],
            "depth": torch.tensor([0] + [1] * children),
        },
        sampling_callables=[lambda q, u: utils.sampling_without_replacement(q, u, children, 1.0)],
        sample_gather_indices=[torch.arange(children)],
    )
    ids, end = prompt[0], False
    while len(ids) <= length and not end:
        tree.construct_grow_map()
        ids, _, _, end = tree.verify()
        end = end or int(ids[-1]) in (0, 2)
    return ids[1:].clone()


def one_round(target, draft, prompt, length):
    return generate(target, draft, prompt, 1, children=2)


if __name__ == "__main__":
    half = {(): ["1/2", "1/2"]}
    if sys.argv[1:] == ["two"]:
        judge(audit.Loop(one_round, dtype="float16"), chain({(): [0, 1], (1,): [1, 0]}, half))
    judge(audit.Loop(generate, dtype="float16"), chain({(): [0, 1], (1,): ["1/2", "1/2"]}, half))
