#!/usr/bin/env python3
"""The exported names: read from the header, compared with symbols.txt, written as a linker version script.

  exports.py HEADER SYMBOLS MAP    fails when the header and the committed list differ
"""
import re
import sys

header, symbols, out = sys.argv[1:4]
text = re.sub(r"/\*.*?\*/", "", open(header).read(), flags=re.S)
declared = sorted(set(re.findall(r"\bHC_API\b[^;]*?\b(hc_\w+)\s*\(", text)))
committed = open(symbols).read().split()
if declared != committed:
    sys.exit("capi/symbols.txt differs from the header.\n  only in the header: %s\n  only in the list: %s" % (
        sorted(set(declared) - set(committed)), sorted(set(committed) - set(declared))))
with open(out, "w") as f:
    f.write("HC_0 {\n  global:\n%s  local: *;\n};\n" % "".join("    %s;\n" % name for name in declared))
