"""Where the simulator is different from the dVRK on purpose, as data for its node card.

The dVRK's defects that hang or kill it, or fill its topics with NaN, are answered with a warning
in its own style; nothing moves, and the arm goes on.
"""

from __future__ import annotations

from typing import Final

__all__ = ["DEVIATIONS"]

DEVIATIONS: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "rate",
        "control cycle 1.5 kHz, state topics 100 Hz",
        "one `rate` for both, 200 Hz by default: a step of the state machine takes 5 ms, not 0.7",
    ),
    (
        "queue of servo streams",
        "1, read every 0.1 ms",
        "20, read once a cycle: every command is applied in the order of arrival, the newest wins",
    ),
    (
        "publishers of tf",
        "one for each arm and each setup joint arm",
        "one for all; still one frame a message",
    ),
    (
        "error, warning, status",
        "printed on the console too",
        "on their topics only",
    ),
    (
        "sounds",
        "beeps and speaks",
        "`system/beep` is heard and nothing more, `system/string_to_speech` is logged",
    ),
)
"""What, the dVRK's behaviour, the behaviour here."""
