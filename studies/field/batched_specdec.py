"""r-rishabh-j/batched_specdec: `speculative_generate_batch` on one prompt, without caches."""

import importlib
import sys
from types import ModuleType

from clones import clone

package = sys.modules["batched_specdec_code"] = ModuleType("batched_specdec_code")
package.__path__ = [str(clone("r-rishabh-j/batched_specdec"))]
code = importlib.import_module("batched_specdec_code.speculative_decoding")
sampled = importlib.import_module("batched_specdec_code.logits_processor").MultinomialProcessor(1.0)


def generate(target, draft, prompt, length, gamma):
    text, *_ = code.speculative_generate_batch(
        prompt.tolist(),
        draft,
        target,
        gamma=gamma,
        logits_processor=sampled,
        max_gen_len=length + 1,
        eos_tokens_id=-1,
        use_cache=False,
        debug=False,
    )
    return text[0]
