"""Searches that take long can be ended from outside, in every kind of solver."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.kinematics.interruptible import check_in, interruptible

ARMS = {
    "psm": load_arm("PSM"),
    "snake": load_arm("PSM", instrument="400117"),
    "numeric": load_arm("MTML"),
    "ecm": load_arm("ECM"),
    "spherical_wrist": load_arm("RVM1"),
}


class _Ended(Exception):
    pass


def _end() -> None:
    raise _Ended


@pytest.mark.parametrize("name", ARMS)
def test_a_batch_is_ended(name: str) -> None:
    arm = ARMS[name]
    T = arm.forward(arm.random_q(np.random.default_rng(1)))[None]
    with interruptible(_end), pytest.raises(_Ended):
        arm.inverse_batch(T)
    assert len(arm.inverse_batch(T)) == 1, "and nothing is left of it"


def test_a_search_for_the_nearest_orientation_is_ended_in_its_midst() -> None:
    arm, rounds = ARMS["psm"], 0
    T = arm.forward([0.2, 0.1, 0.12, 0.0, 0.0, 0.0])
    T[:3, :3] = T[:3, :3] @ np.diag([1.0, -1.0, -1.0])
    whole = 0

    def count() -> None:
        nonlocal whole
        whole += 1

    with interruptible(count):
        arm.inverse(T, policy="position_first")
    assert whole > 10

    def end_halfway() -> None:
        nonlocal rounds
        rounds += 1
        if rounds > whole // 2:
            raise _Ended

    with interruptible(end_halfway), pytest.raises(_Ended):
        arm.inverse(T, policy="position_first")


def test_it_holds_for_its_own_thread_and_its_own_block() -> None:
    with interruptible(_end):
        other = threading.Thread(target=check_in)
        other.start()
        other.join()
        with interruptible(lambda: None):
            check_in()
        with pytest.raises(_Ended):
            check_in()
    check_in()
