"""Compiles every kernel of a few launches for compute capability 9.0, without a GPU; prints its counts.

Run as a program of its own: whether a kernel is compiled or interpreted is settled when it is defined.
"""

import json
from dataclasses import asdict

import torch

from benchmarks.kernel_code import FILTERS, compile_only, compiled, read


def main() -> None:
    compile_only()
    from benchmarks.cases import tree_of
    from draftproof.gpu.kernels import NAMES
    from draftproof.gpu.sampling.tree import Tree

    tree, chain, wide = Tree.of_shape([[[], []], [[]]]), Tree.chain(8), tree_of("tree", 8)
    drafts = {"token": chain, "block": chain, "specinfer": Tree.paths(2, 2)}
    V, half, single = 131072, torch.bfloat16, torch.float32
    launches = [(name, drafts.get(name, tree), 8, V, half) for name in NAMES]
    launches += [(name, tree_of("strata", 8), 8, V, half) for name in NAMES if "optimal" in name]
    launches += [("block", chain, 64, V, half), ("block", chain, 1, V, half), ("traversal", wide, 8, V, half)]
    launches += [("rrs", tree, 2, V, single), ("block", chain, 64, 50257, half)]
    names = "temperature", "top_k", "top_p", "min_p"
    own = {each: torch.empty(64, device="meta", dtype=single) for each in names}
    own["top_k"] = own["top_k"].int()
    found = []
    for name, drafted, B, V, dtype, filters in (
        *((*each, {}) for each in launches),
        *((name, chain if name == "block" else tree, 64, V, half, FILTERS) for name in ("block", "one-hot")),
        *((name, chain, 64, V, half, own) for name in ("block", "token")),
    ):
        made = {kernel: rest for kernel, *rest in compiled(name, drafted, B, V, dtype, **filters)}
        codes = [asdict(read(kernel, *rest)) for kernel, rest in made.items()]
        found += [{"name": name, "B": B, "V": V, "half": dtype == half, **code} for code in codes]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
