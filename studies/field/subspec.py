"""brian030128/subspec_v2: `verify_tree` on one drafted path, exact and by its "traversal"."""

import importlib
import sys
from types import ModuleType

import torch
from clones import clone
from engines import method

FOLDER = clone("brian030128/subspec_v2", "specdecodes/models")
package = sys.modules["subspec_utils"] = ModuleType("subspec_utils")
package.__path__ = [str(FOLDER / "utils")]
trees = importlib.import_module("subspec_utils.cpu_tree")
verify_tree = importlib.import_module("subspec_utils.tree_verify").verify_tree
step = method(FOLDER / "generators/classic_sd.py", "_verify_step", {"torch": torch})
sample = method(FOLDER / "generators/base.py", "_sample_token", {"torch": torch})


def exact(target_probs, draft_probs, draft_tokens, name="exact"):
    tree, drawn = trees.Tree(torch.tensor(0)), 1.0
    for at, token in enumerate(draft_tokens.tolist()):
        drawn *= float(draft_probs[at, token])
        tree.nodes[at].children.append(at + 1)
        tree.nodes.append(trees.TreeNode(at, token, drawn, at + 1))
        tree.current_size += 1
    words, *_ = verify_tree(
        tree=tree,
        root_ind=0,
        logits=target_probs.log()[None],
        sample_token_fn=lambda *given, **named: sample(None, *given, **named),
        verify_step_fn=lambda *given: step(None, *given),
        eos_token_id=None,
        logits_processor=lambda ids, logits: logits,
        do_sample=True,
        verify_method=name,
    )
    return words


def traversal(target_probs, draft_probs, draft_tokens):
    return exact(target_probs, draft_probs, draft_tokens, "traversal")
