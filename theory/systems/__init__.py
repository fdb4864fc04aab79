"""Systems of several parts that claim to keep the law, one file each, with the mistake each can make.

They are sampler programs like verifiers and drafting schemes, made of those, and are judged in the same way;
what was found is among the claims (`draftproof claims`).
"""
