"""The explorer's numbers: everything the page may show, computed here by the exact engine.

The page holds no verifier. For every position of the sliders that a drafted tree depends on, the
engine runs the real program and writes down its walk; the page looks walks up and adds them.
"""
