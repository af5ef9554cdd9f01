"""What the tests of motion share: arms, and where their helpers are."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

import pytest

from dvrk_kinematics import Arm, load_arm

# Test modules are imported one by one, not as a package: what they share is found here.
sys.path.insert(0, str(Path(__file__).parent))


@lru_cache
def _psm() -> Arm:
    return load_arm("PSM", instrument="400006")


@pytest.fixture(scope="session")
def psm() -> Arm:
    """A PSM with a large needle driver."""
    return _psm()
