"""Which key of references.bib an arXiv number has, for the papers that claims cite."""

import re

ARXIV = {
    "2605.04543": "weng2026univer",
    "2211.17192": "leviathan2023fast",
    "2302.01318": "chen2023accelerating",
    "2305.09781": "miao2024specinfer",
    "2309.06180": "kwon2023vllm",
    "2310.15141": "sun2023spectr",
    "2401.06706": "yang2024multicandidate",
    "2401.10774": "cai2024medusa",
    "2402.14160": "jeon2024recursive",
    "2403.10444": "sun2025block",
    "2405.19261": "narasimhan2025faster",
    "2406.16858": "li2024eagle2",
    "2410.18234": "khisti2025multidraft",
    "2411.05289": "sun2024spechub",
    "2502.15197": "wu2025tetris",
    "2502.18779": "hu2025towards",
    "2504.20456": "guo2025anysubset",
    "2505.12398": "weng2025traversal",
    "2506.05632": "rowan2025list",
    "2511.15898": "thomas2026global",
    "2601.05724": "zhou2026hsd",
    "2602.16961": "thomas2026multipath",
    "2602.16994": "thomas2026delayed",
    "2603.03251": "kumar2026ssd",
    "2604.04987": "hao2026cactus",
    "2604.07622": "wang2026diversed",
    "2604.12989": "ringel2026ddtree",
    "2607.05147": "dspark2026throughput",
}
NUMBER = re.compile(r"\d{4}\.\d{4,5}")


def in_source(paper: str) -> str:
    """The words by which a claim's source names this paper: the key of an arXiv number or address, else
    the text itself.

    >>> in_source("https://arxiv.org/abs/2403.10444v2"), in_source("weng2025traversal")
    ('sun2025block', 'weng2025traversal')
    """
    number = NUMBER.search(paper)
    return ARXIV.get(number[0], paper) if number else paper
