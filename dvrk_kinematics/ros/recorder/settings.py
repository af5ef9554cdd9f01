"""Parameters of the recorder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.ros.common.parameters import parameter
from dvrk_kinematics.ros.recorder.topics import STANDARD

__all__ = ["RecorderSettings", "default_folder"]


@dataclass(frozen=True)
class RecorderSettings:
    """A user's settings for a recording."""

    arms: tuple[str, ...] = parameter(
        ("PSM1",), "arms whose standard topics are recorded", read_only=True
    )
    topics: tuple[str, ...] = parameter(
        (STANDARD,),
        "names of topics; standard stands for those of config/recording/topics.yaml",
        read_only=True,
    )
    output: str = parameter(
        "", "folder of the bag, must not exist; named for the time if empty", read_only=True
    )
    duration: float = parameter(
        0.0, "how long to record; 0 until stopped", unit="s", minimum=0.0, read_only=True
    )

    def check(self) -> None:
        """Refuse invalid names."""
        for field in ("arms", "topics"):
            if not all(name.strip("/") for name in getattr(self, field)):
                raise InvalidInput(field, f"{list(getattr(self, field))} has an empty name")


def default_folder() -> Path:
    """Return a folder named by time, in DVRK_BAGS if that is set, else in the working folder."""
    name = datetime.now().strftime("bag_%Y_%m_%d-%H_%M_%S")
    return Path(os.environ.get("DVRK_BAGS", "."), name)
