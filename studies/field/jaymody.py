"""jaymody/speculative-sampling: `speculative_sampling`, in numpy."""

from unittest.mock import MagicMock

import numpy as np
from clones import clone
from engines import functions

FILE = clone("jaymody/speculative-sampling", "main.py")
names = {"np": np, "tqdm": MagicMock()}
code = functions(FILE, ("max_fn", "sample", "speculative_sampling"), names)


def rows(model):
    return lambda ids: np.stack([model.row(ids[1:end]).softmax(-1).numpy() for end in range(1, len(ids) + 1)])


def generate(target, draft, prompt, length, gamma):
    ids = prompt[0].numpy()
    return code["speculative_sampling"](ids, rows(draft), rows(target), length, gamma)[1:]
