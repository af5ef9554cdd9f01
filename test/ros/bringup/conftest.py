"""What the tests of commands share is found beside them, and beside those of the bridge."""

from __future__ import annotations

import sys
from pathlib import Path

# Test modules are imported one by one, not as a package.
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "bridge")]
