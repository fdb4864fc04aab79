"""Bugs that real verifiers had: number -> (project with issue or pull request, what went wrong)."""

BUGS = {
    "1": (
        "vllm-ascend #5542, fixed #7808, back in #9772",
        "block rule tau = max{i : prod of ratios >= prod of uniforms}; TV 0.26 to 0.40; E[tau] 2.00 where "
        "the valid optimum is 1.284",
    ),
    "2": ("vllm-ascend #7807", "block rule with the residual (p - q)+ not scaled by w_tau"),
    "3": ("vllm-ascend #7603", "block rule on drafts without probabilities, ratio taken with q = 1"),
    "4": ("vLLM #8320 (review)", "after a rejection the token is drawn from p, not from the residual"),
    "5": ("transformers #28508", "the count of matches accepted everything"),
    "6": ("rtp-llm #1295", '"same token" bypass accepts without a coin'),
    "7": ("openvino.genai #4190", "a rejection noticed one iteration late; a token dropped"),
    "8": ("antirez/ds4 #482", "off-by-one logits row; random state reseeded at every call"),
    "9": ("transformers #30778, #32867", "drafted greedily, verified with the softmax q"),
    "10": ("transformers #47932", "q before the processors, drafts sampled after them"),
    "11": ("vLLM #9834", "target without temperature and top-p, draft with them"),
    "12": ("DeepSpec #30", "drafted in bf16, ratio in fp32"),
    "13": ("vLLM #41044", "draft rows not reordered when the batch was"),
    "14": ("z-lab/dflash #169", "per-position marginals used where the joint was needed"),
    "15": ("vllm-ascend #6685", "logits passed where probabilities were expected"),
    "16": ("vLLM #47386, #54282", "the draft's Gumbel noise reused for the residual draw"),
    "17": (
        "vLLM up to 0.32.0, block rule",
        "uniform keyed by (seed, position), used again after the position was discarded; TV 0.06 over three "
        "tokens",
    ),
    "18": ("FlashInfer #424", "one uniform for all positions"),
    "19": (
        "SGLang #30822, #35771",
        "coin equal to 1.0 or 0.0; `<=` at a bucket's edge accepts a zero-probability token",
    ),
    "20": ("vLLM #46533, FlashInfer #879", "draft id -1 (padding) indexed or accepted"),
    "21": ("vLLM #21876", "NaN logits become an id outside the vocabulary"),
    "22": ("vLLM #33251 (review)", "penalty state changed by drafts that were rejected later"),
    "23": ("subspec_v2", "traversal with the parent's rate divided by the remaining proposal mass"),
    "24": ("HSD repository", "full draft accepted with the uncapped joint ratio"),
    "25": ("HSD repository, algorithm.py", "prefix weight applied only where it sets a new maximum"),
    "26": ("HSD repository, multi-draft", "joint prefix ratio carried over after a stop"),
    "27": ("SpecHub's EAGLE copy", "shortcut: accept the likeliest token outright when p > 0.999"),
    "28": (
        "llama.cpp examples/speculative",
        "deterministic tree children verified with q ratios; residual misaligned when kept sets differ",
    ),
    "29": (
        "TETRIS-like selection at T > 0",
        "the drafted token's own probability decides whether it is verified",
    ),
    "30": (
        "several",
        "siblings re-sorted after drawing; with- and without-replacement rules mixed; bonus row off by one; "
        "residual row off by one",
    ),
}
