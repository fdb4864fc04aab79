"""The same algorithms on tensors and on real models, with torch. Come to

* `sampling/` for rows, draws and draft trees as tensors, and logits processors;
* `verify/` for the batched verifiers in plain torch, `kernels/` for the Triton kernels;
* `network/` to read a transformers model with its caches, `drafters/` for everything that proposes tokens;
* `engine/` for the decoding loop;
* `checks/` to compare it with the exact engine (`against_exact/`) and with the models' own laws (`models/`);
* `bench/` for timings, `commands/` for `draftproof gpu`, `pair/` for the tiny pair of models that ships.
"""
