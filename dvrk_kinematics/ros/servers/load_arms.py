"""Loads the arms that a server offers, from its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.kinematics.arm import Arm, load_arm
from dvrk_kinematics.models.model_files import model_name
from dvrk_kinematics.ros.common.parameters import parameter

__all__ = ["ArmSettings", "base_frame", "load_arms"]


@dataclass(frozen=True)
class ArmSettings:
    """Parameters that choose arms."""

    arms: tuple[str, ...] = parameter(
        ("PSM1",), "arms to answer for, by their names on the graph", read_only=True
    )
    models: tuple[str, ...] = parameter(
        ("",), "ARM:MODEL for arms whose model is not that of their name", read_only=True
    )
    instruments: tuple[str, ...] = parameter(
        ("",), "ARM:INSTRUMENT by name or number, or one INSTRUMENT for all", read_only=True
    )
    generation: str = parameter("Classic", "Classic or Si", read_only=True)


def load_arms(choice: ArmSettings) -> dict[str, Arm]:
    """Load the arms that the parameters name.

    Raises:
        InvalidInput: There is no arm, a duplicate, or a pair for an arm that is not listed.
        UnknownName: There is no such model or instrument; lists those that exist.
    """
    arms = choice.arms
    if not arms or len(set(arms)) != len(arms):
        raise InvalidInput("arms", f"needs one or more names, each once; is {list(arms)}")
    models = _read_pairs("models", choice.models, arms)
    instruments = _read_pairs("instruments", choice.instruments, arms)
    loaded = {}
    for name in arms:
        model = models.get(name) or model_name(name)
        # An instrument for all applies only to arms that carry one.
        wanted = instruments.get(name) or _common(instruments, model, choice.generation)
        loaded[name] = load_arm(model, wanted, choice.generation)
    return loaded


def _common(instruments: Mapping[str, str], model: str, generation: str) -> str | None:
    common = instruments.get("")
    if not common or load_arm(model, None, generation).model.instrument is None:
        return None
    return common


def _read_pairs(parameter_name: str, texts: Iterable[str], arms: Sequence[str]) -> dict[str, str]:
    """Read ARM:VALUE texts; a VALUE alone is stored under the empty name.

    Raises:
        InvalidInput: A text names an unlisted arm.
    """
    pairs = {}
    for text in texts:
        if text:
            name, colon, value = text.partition(":")
            if not colon:
                name, value = "", text
            if name and name not in arms:
                raise InvalidInput(
                    parameter_name, f"{text!r} is about {name}; the arms are {', '.join(arms)}"
                )
            pairs[name] = value
    return pairs


def base_frame(arm: str) -> str:
    """The reference frame of an arm's poses, where the dVRK's own tf tree ends."""
    return f"{arm}_base"
