"""Kinds and controllers of arms as data, and the models of arms by their names on the graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from dvrk_kinematics.errors import ModelError, UnknownName
from dvrk_kinematics.models import model_files as files
from dvrk_kinematics.models.load_model import load_model, model_name

CONFIG = files.find_models_dir()


@pytest.mark.parametrize(
    ("arm", "model"),
    [
        ("PSM1", "PSM"),
        ("PSM", "PSM"),
        ("ECM", "ECM"),
        ("RVM1", "RVM1"),
        ("rvm1", "RVM1"),
        ("RVM12", None),
        ("CYBER310", "CYBER310"),
        ("SUJ_PSM2", "SUJ_PSM2"),
        ("left", None),
        ("", None),
    ],
)
def test_an_arm_has_the_model_of_its_name_with_or_without_digits(
    arm: str, model: str | None
) -> None:
    if model is not None:
        assert model_name(arm) == model
        return
    with pytest.raises(UnknownName, match=r"valid: .*RVM1"):
        model_name(arm)


def test_a_kind_is_the_arms_own_name_or_that_of_a_plain_arm() -> None:
    assert load_model("PSM").kind == "PSM"
    assert load_model("PSM").controller is None
    for name in ("RVM1", "CYBER310"):
        model = load_model(name)
        assert model.kind == "ARM"
        assert model.controller is not None
        assert len(model.controller.home) == len(model.joints)


@pytest.mark.parametrize(
    ("old", "new", "place", "reason"),
    [
        ("home: 0.7853981633974483", "home: 2.0", "controller.shoulder.home", "joint's limits"),
        ("p_gain: 400.0", "p_gain: -1.0", "controller.shoulder.p_gain", "not be negative"),
        ("p_gain: 400.0", "p_gain: .inf", "controller.shoulder.p_gain", "finite"),
        ("d_gain: 20.0}", "d_gain: 20.0, i_gain: 1.0}", "controller.shoulder", "unknown: i_gain"),
        ("  shoulder: {home", "  sholder: {home", "controller", "missing: shoulder"),
        (", pid_tolerance: 0.3", "", "controller.waist", "pid_tolerance"),
    ],
)
def test_a_wrong_controller_is_refused_with_file_and_place(
    tmp_path: Path, old: str, new: str, place: str, reason: str
) -> None:
    text = (CONFIG / "rvm1.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "rvm1.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        load_model("RVM1", folder=tmp_path)
    assert caught.value.source == f"rvm1.yaml: {place}"
    assert reason in caught.value.reason
