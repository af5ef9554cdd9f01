"""What the tests of the rooms without ROS share: arms, golden tables, random numbers."""

from __future__ import annotations

import csv
import gzip
import os
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm

# Test modules are imported one by one, not as a package: what they share is found here.
sys.path.insert(0, str(Path(__file__).parent))

DATA = Path(__file__).resolve().parent.parent / "data"

# A snake is free here: its closed form is tested beside its solver.
ARMS: dict[str, Callable[[], Arm]] = {
    "psm_400006": lambda: load_arm("PSM", instrument="400006"),
    "psm_420006": lambda: load_arm("PSM", instrument="420006", generation="Si"),
    "psm_caudier": lambda: load_arm("PSM", instrument="caudier"),
    "psm_snake": lambda: load_arm("PSM", instrument="400117", solver="numeric"),
    "ecm": lambda: load_arm("ECM"),
    "ecm_si": lambda: load_arm("ECM", generation="Si"),
    "mtml": lambda: load_arm("MTML"),
    "mtmr": lambda: load_arm("MTMR"),
    "suj_psm1": lambda: load_arm("SUJ_PSM1"),
    "suj_psm2": lambda: load_arm("SUJ_PSM2"),
    "suj_psm3": lambda: load_arm("SUJ_PSM3"),
    "suj_ecm": lambda: load_arm("SUJ_ECM"),
    "rvm1": lambda: load_arm("RVM1"),
    "cyber310": lambda: load_arm("CYBER310"),
}


@pytest.fixture(params=list(ARMS))
def every_arm(request: pytest.FixtureRequest) -> Arm:
    """Each arm in turn."""
    return ARMS[request.param]()


@pytest.fixture
def rng() -> np.random.Generator:
    """The same random numbers in every run."""
    return np.random.default_rng(7)


@pytest.fixture
def data_dir() -> Path:
    """Where the golden tables are."""
    return DATA


@pytest.fixture(scope="session")
def recorded_stamps() -> dict[str, np.ndarray]:
    """Arrival and stamp (ns, from the first) of the dVRK's messages by topic, shape (n, 2)."""
    rows = defaultdict(list)
    path = DATA / "dvrk_truth" / "stamps_psm1_p0.005.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows[row["topic"]].append((int(row["arrival_ns"]), int(row["stamp_ns"])))
    return {topic: np.array(pairs) for topic, pairs in rows.items()}


@pytest.fixture
def campaign() -> Callable[[int], int]:
    """How many tries a campaign makes: its own number, times DVRK_CAMPAIGN where that is set."""
    factor = float(os.environ.get("DVRK_CAMPAIGN", "1"))
    return lambda tries: max(1, round(tries * factor))
