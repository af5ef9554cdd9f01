from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics.geometry import angles

any_angle = st.floats(-50.0, 50.0)


@given(any_angle)
def test_wrapping_keeps_the_direction_and_lands_in_one_turn(angle: float) -> None:
    wrapped = angles.wrap_to_pi(angle)
    assert -np.pi < wrapped <= np.pi
    assert np.cos(wrapped) == pytest.approx(np.cos(angle), abs=1e-12)
    assert np.sin(wrapped) == pytest.approx(np.sin(angle), abs=1e-12)
    assert angles.wrap_to_pi(np.array([angle]))[0] == pytest.approx(wrapped, abs=1e-12)


@given(any_angle, any_angle)
def test_the_nearest_turn_is_within_half_a_turn(angle: float, reference: float) -> None:
    near = angles.nearest_turn(angle, reference)
    assert abs(near - reference) <= np.pi + 1e-12
    assert (near - angle) / (2 * np.pi) == pytest.approx(round((near - angle) / (2 * np.pi)))
    both = angles.nearest_turn(np.array([angle]), np.array([reference]))
    assert np.cos(both[0]) == pytest.approx(np.cos(near), abs=1e-12)


def test_half_a_turn_has_one_name() -> None:
    assert angles.wrap_to_pi(-np.pi) == np.pi
    assert angles.wrap_to_pi(np.array([-np.pi, np.pi]))[0] == np.pi


def test_the_difference_takes_the_short_way() -> None:
    assert angles.difference(3.1, -3.1) == pytest.approx(6.2 - 2 * np.pi)


def test_unwrapping_a_path_takes_out_whole_turns() -> None:
    path = np.linspace(0.0, 20.0, 100)[:, None] * [1.0, -0.5]
    assert np.allclose(angles.unwrap(angles.wrap_to_pi(path)), path)
