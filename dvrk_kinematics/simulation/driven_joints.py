"""The joints that the motors of a simulated arm can drive, with any instrument."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from dvrk_kinematics.models.load_model import instrument_names, load_model, model_name

__all__ = ["driven_joints"]


@lru_cache(maxsize=16)
def driven_joints(name: str) -> Mapping[str, float]:
    """The widths of the ranges (rad, m) of an arm's joints and jaw, by name.

    An instrument can be exchanged while an arm runs, so the joints of all instruments count, each
    at its widest.

    Args:
        name: "PSM1", "ECM", "RVM1" and so on.

    Raises:
        UnknownName: The arm does not exist.
    """
    bare = load_model(model_name(name))
    models = [bare]
    if bare.instrument is not None:
        models += [
            load_model(model_name(name), instrument)
            for instrument in instrument_names(bare.generation)
        ]
    widths: dict[str, float] = {}
    for model in models:
        for joint in (*model.joints, *([model.jaw] if model.jaw else [])):
            widths[joint.name] = max(widths.get(joint.name, 0.0), joint.upper - joint.lower)
    return MappingProxyType(widths)
