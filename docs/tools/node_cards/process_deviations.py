"""Where the process differs from the dVRK's on purpose, beyond what its simulated arms do.

:mod:`dvrk_kinematics.simulation.deviations` has those of the arms; the node card shows both.
"""

from __future__ import annotations

from typing import Final

from dvrk_kinematics.simulation.deviations import Deviation

__all__ = ["PROCESS_DEVIATIONS"]

PROCESS_DEVIATIONS: Final = (
    Deviation(
        "rate",
        "at any time",
        "control cycle 1.5 kHz, state topics 100 Hz",
        "data are as old as there, but a cycle is only made when it is published, at `rate`, "
        "200 Hz by default: a step of the state machine takes 5 ms, not 0.7",
    ),
    Deviation(
        "bursts",
        "commands on one topic in a burst",
        "queue of 1, read every 0.1 ms, or later where its machine is busy",
        "of those within 1 ms of each other only the newest is acted on; servo commands are all "
        "applied in the order of arrival",
    ),
    Deviation(
        "tf_publishers",
        "tf",
        "a publisher for each arm and each setup joint arm",
        "one publisher; still one frame a message",
    ),
    Deviation(
        "console",
        "error, warning, status",
        "printed on the console too",
        "on their topics only",
    ),
    Deviation(
        "sounds",
        "`system/beep`, `system/string_to_speech`",
        "beeps and speaks",
        "a beep is heard and nothing more, a text is logged",
    ),
)
"""All of them."""
