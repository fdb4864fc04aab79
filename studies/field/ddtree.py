"""liranringel/ddtree: builds its tree from the drafter's rows, samples at every node and follows the tree."""

import heapq
import time
from collections import defaultdict

import numpy as np
import torch
from clones import clone
from engines import functions

FOLDER = clone("liranringel/ddtree")
names = {"torch": torch, "np": np, "heapq": heapq, "time": time, "cuda_time": time.perf_counter}
names |= {"empty_stage_times": lambda order: defaultdict(float), "DDTREE_TREE_BUILD_STAGE_ORDER": ()}
code = functions(FOLDER / "ddtree.py", ("build_ddtree_tree", "follow_verified_tree"), names)
functions(FOLDER / "model/utils.py", ("sample",), names)


def generate(target, draft, prompt, length, gamma):
    text = []
    while len(text) < length:
        logits = draft.row(text).repeat(gamma, 1)  # its drafter drafts all positions at once
        ids, _, parents, children, _, _ = code["build_ddtree_tree"](logits, 2 * gamma)
        paths = [text]
        for token, parent in zip(ids.tolist(), parents[1:], strict=True):
            paths.append([*paths[parent], token])
        posterior = code["sample"](torch.stack([target.row(path) for path in paths])[None], 1.0)
        nodes, token = code["follow_verified_tree"](children, posterior)
        text = [*paths[nodes[-1]], token]
    return text
