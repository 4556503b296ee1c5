#!python
"""The command kith of an installed wheel: becomes the program that the package brings."""

import importlib.util
import os
import sys

# Found, not imported: that would take NumPy's time.
package = importlib.util.find_spec("kith")
os.execv(os.path.join(os.path.dirname(package.origin), "bin", "kith"), sys.argv)
