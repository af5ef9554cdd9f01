"""The number of slow-downs survives the text of a result."""

from __future__ import annotations

import pytest

from dvrk_kinematics.driver.playback.goal_result import describe_slow_downs, read_slow_downs


@pytest.mark.parametrize("count", [1, 2, 17, 12_345])
def test_what_is_told_is_read_again(count: int) -> None:
    text = f"goal reached; 3.1 ms late; {describe_slow_downs(count)}"
    assert read_slow_downs(text) == count


@pytest.mark.parametrize("text", ["", "goal reached; 0.0 ms late", "slowed down often", "7 times"])
def test_a_text_without_slow_downs_means_none(text: str) -> None:
    assert read_slow_downs(text) == 0
