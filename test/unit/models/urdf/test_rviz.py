"""RViz shows the descriptions on the topics that the nodes publish."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).resolve().parents[4] / "config" / "rviz"


def _manager(name: str) -> dict[str, Any]:
    text = (FOLDER / f"{name}.rviz").read_text(encoding="utf-8")
    manager: dict[str, Any] = yaml.safe_load(text)["Visualization Manager"]
    return manager


@pytest.mark.parametrize(
    ("name", "arms", "fixed"),
    [
        ("arm", ["PSM1"], "PSM1_base"),
        ("cart", ["SUJ", "PSM1", "PSM2", "PSM3", "ECM"], "SUJ_cart"),
    ],
)
def test_a_robot_model_for_every_description(
    name: str, arms: list[str], fixed: str, described: Any
) -> None:
    manager = _manager(name)
    models = [d for d in manager["Displays"] if d["Class"].endswith("/RobotModel")]
    assert [model["Name"] for model in models] == arms
    for model in models:
        topic = model["Description Topic"]
        assert topic["Value"] == f"{model['Name']}/robot_description", "relative, so movable"
        assert topic["Durability Policy"] == "Transient Local", "descriptions are latched"
        assert model["Enabled"] and model["TF Prefix"] == ""
    assert manager["Global Options"]["Fixed Frame"] == fixed
    text = described(arms[0])
    frames = [d["Reference Frame"] for d in manager["Displays"] if "Reference Frame" in d]
    for frame in [fixed, *frames]:
        assert f'<link name="{frame}"' in text
