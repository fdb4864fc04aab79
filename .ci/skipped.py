"""The tests that a run of pytest skipped, as arguments for the next one: python .ci/skipped.py RESULTS.xml"""

import sys
from pathlib import Path
from xml.etree import ElementTree

WHOLE = "tests/gpu", "tests/test_examples.py"  # run as they are

found = {}
for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
    if case.find("skipped") is not None:
        module, name = case.get("classname") or "", case.get("name") or ""
        if not module:  # the module was skipped
            module, name = name, ""
        parts = module.split(".")
        file = next(n for n in range(len(parts), 0, -1) if Path(*parts[:n]).with_suffix(".py").exists())
        path = Path(*parts[:file]).with_suffix(".py").as_posix()
        if not path.startswith(WHOLE):
            found["::".join([path, *parts[file:], *([name] if name else [])])] = None
print("\n".join([*WHOLE, *found]))
