"""csaq-quant 0.6.0: `CSAQInferenceEngine.generate(speculative=True)`; its weights are tables."""

from clones import importable

importable("csaq-quant")
from csaq.inference import CSAQInferenceEngine


class Net:
    device, training = "cpu", False

    def __init__(self, target, draft):
        self.models = {True: target, False: draft}

    def eval(self): ...

    def __call__(self, input_ids, past_key_values=None, use_cache=True):
        return self.models[self.engine._in_verify](input_ids, past_key_values=past_key_values)


def generate(target, draft, prompt, length, gamma):
    net, engine = Net(target, draft), object.__new__(CSAQInferenceEngine)
    net.engine, engine.model, engine.tokenizer, engine.verbose = engine, net, None, False
    engine.device, engine._in_verify, engine._hooks = prompt.device, False, [(None,) * 4]
    engine.telemetry = dict.fromkeys(("total_tokens", "accepted_tokens", "backpressure_events"), 0)
    ids, _ = engine.generate(prompt, speculative=True, lookahead=gamma, max_new_tokens=length)
    return ids[0, 1:]
