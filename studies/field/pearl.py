"""smart-lty/ParallelSpeculativeDecoding (PEARL): the drafting process. The target's process, whose own draws
decide nothing, is replaced by its rows; both would gather them."""

from types import SimpleNamespace

import torch
from clones import Padded, clone, importable
from engines import methods

FILE = clone("smart-lty/ParallelSpeculativeDecoding", "src/engine.py")
importable("smart-lty/ParallelSpeculativeDecoding")
from src.kvcache import KVCacheModel
from src.util import max_fn, sample

NAMES = {"torch": torch, "sample": sample, "max_fn": max_fn}
PARALLEL = "parallel_speculative_decoding"
ENGINE = methods(FILE, None, ("speculative_decoding", PARALLEL, f"{PARALLEL}_without_strategy_1"), NAMES)


class Process:
    """What the accelerator gathers: the drafter's rows, and the target's after the same tokens."""

    is_main_process = True
    wait_for_everyone = staticmethod(lambda: None)

    def __init__(self, target, gamma):
        self.target, self.gamma = target, gamma

    def made(self, *given):
        self.model = KVCacheModel(*given)
        self.generate, self.model.generate = self.model.generate, self.generating
        return self.model

    def generating(self, ids, gamma):
        self.ids = ids
        return self.generate(ids, gamma)

    def gather(self, prob):
        rows = self.target(self.ids).logits[:, -self.gamma - 1 :].softmax(-1)
        return torch.cat([prob, rows])


def run(name, target, draft, prompt, length, gamma):
    more = gamma + 1  # the prompt must have that many tokens
    process = Process(Padded(target, more), gamma)
    NAMES["KVCacheModel"] = process.made
    args = SimpleNamespace(temp=1.0, top_k=0, top_p=0.0, gamma=gamma, max_tokens=length + gamma)
    engine = SimpleNamespace(
        accelerator=process,
        args=args,
        draft_model=Padded(draft, more),
        target_model=Padded(target, more),
        vocab_size=target.rows.vocab,
        seed=int(torch.randint(2**31, ())),  # the law is that over seeds
        draft_forward_times=0,
        target_forward_times=0,
        num_acc_tokens=[],
    )
    padding = torch.zeros(1, more, dtype=torch.int64)
    text = getattr(ENGINE, name)(engine, torch.cat([padding, prompt], 1))
    return text[0, 1 + more :][:length].long()


def sequential(target, draft, prompt, length, gamma):
    more = gamma + 1
    NAMES["KVCacheModel"] = KVCacheModel
    engine = SimpleNamespace(
        accelerator=Process(None, gamma),
        args=SimpleNamespace(temp=1.0, top_k=0, top_p=0.0, gamma=gamma, max_tokens=length),
        draft_model=Padded(draft, more),
        target_model=Padded(target, more),
        vocab_size=target.rows.vocab,
        draft_forward_times=0,
        target_forward_times=0,
        num_acc_tokens=[],
    )
    return ENGINE.speculative_decoding(engine, prompt.repeat(1, 1 + more))[0, 1 + more :]


def parallel(target, draft, prompt, length, gamma):
    return run(PARALLEL, target, draft, prompt, length, gamma)


def without_1(target, draft, prompt, length, gamma):
    return run(f"{PARALLEL}_without_strategy_1", target, draft, prompt, length, gamma)
