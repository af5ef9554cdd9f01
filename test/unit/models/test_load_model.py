from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import InvalidInput, ModelError, UnknownName
from dvrk_kinematics.models import model_files as files
from dvrk_kinematics.models.load_model import arm_names, instrument_names, load_model
from dvrk_kinematics.models.schema import Convention, JointKind

CONFIG = files.find_models_dir()
ARM_FILES = sorted(path for path in CONFIG.glob("*.yaml") if path.name != "instruments.yaml")


def test_every_arm_of_the_kit_is_there() -> None:
    arms = {"PSM", "ECM", "MTML", "MTMR", "SUJ_PSM1", "SUJ_PSM2", "SUJ_PSM3", "SUJ_ECM"}
    assert arms <= set(arm_names())
    assert {"PSM", "ECM"} <= set(arm_names("Si"))


def test_an_arm_knows_its_joints_and_rates() -> None:
    psm = load_model("psm")
    assert psm.joint_names == ("yaw", "pitch", "insertion", "roll", "wrist_pitch", "wrist_yaw")
    assert [joint.kind for joint in psm.joints][2] is JointKind.PRISMATIC
    assert psm.joints[2].velocity == 0.2
    assert psm.jaw is not None and psm.jaw.lower == -0.698132
    assert psm.instrument is not None and psm.instrument.number == "400006"
    assert load_model("MTMR").convention is Convention.STANDARD
    assert load_model("SUJ_PSM2").joint_names[0] == "SUJ_PSM2_J0"


def test_models_cannot_be_changed() -> None:
    psm = load_model("PSM")
    with pytest.raises(dataclasses.FrozenInstanceError):
        psm.name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        psm.T_tip_offset[0, 0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        psm.links[2].T_pre[0, 0] = 2.0


def test_unknown_names_answer_with_the_valid_ones() -> None:
    with pytest.raises(UnknownName, match="SUJ_PSM1") as caught:
        load_model("PMS")
    assert caught.value.kind == "arm"
    assert "PSM" in caught.value.valid
    with pytest.raises(UnknownName, match="LARGE_NEEDLE_DRIVER_400006") as caught:
        load_model("PSM", "400999")
    assert caught.value.name == "400999"
    with pytest.raises(UnknownName, match="valid: Classic") as caught:
        load_model("MTML", generation="Si")


def test_an_instrument_has_to_fit_the_arm() -> None:
    with pytest.raises(InvalidInput, match="ECM carries none"):
        load_model("ECM", "400006")
    with pytest.raises(InvalidInput, match="fits the Si PSM, not the Classic one"):
        load_model("PSM", "420006")


@pytest.mark.parametrize(
    "name", ["400006", "LARGE_NEEDLE_DRIVER_400006", "large_needle_driver_400006"]
)
def test_an_instrument_has_a_number_and_a_name(name: str) -> None:
    found = load_model("PSM", name).instrument
    assert found is not None and found.name == "LARGE_NEEDLE_DRIVER_400006"


def test_a_geared_instrument_has_its_own_number() -> None:
    plain = load_model("PSM", "420006", "Si").instrument
    geared = load_model("PSM", "420006_geared", "Si").instrument
    assert plain is not None and geared is not None
    assert plain.coupling is not None and geared.coupling is not None
    assert plain.coupling[0, 0] == -1.5632
    assert geared.coupling[0, 0] == 1.5333


def test_every_instrument_loads_on_its_own_arm() -> None:
    seen = []
    for generation in ("Classic", "Si"):
        for name in instrument_names(generation):
            model = load_model("PSM", name, generation)
            assert model.ik in ("psm", "snake")
            assert model.links[-2].name == model.tip_link
            seen.append(name)
    assert sorted(seen) == sorted(instrument_names())
    assert len(seen) == 55


def _numbers(value: Any, place: str = "") -> list[tuple[str, float]]:
    if isinstance(value, dict):
        return [n for key, item in value.items() for n in _numbers(item, f"{place}.{key}")]
    if isinstance(value, list):
        return [n for i, item in enumerate(value) for n in _numbers(item, f"{place}.{i}")]
    return [(place, float(value))] if isinstance(value, (int, float)) else []


@pytest.mark.parametrize("path", [*ARM_FILES, CONFIG / "instruments.yaml"], ids=lambda p: p.stem)
def test_quarter_turns_in_tables_are_exact(path: Path) -> None:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    for place, value in _numbers(data):
        if place.endswith((".alpha", ".theta")) and value:
            eighths = value / (math.pi / 4.0)
            if abs(eighths - round(eighths)) < 1e-3:
                assert value == round(eighths) * math.pi / 4.0, place


@pytest.mark.parametrize("path", ARM_FILES, ids=lambda p: p.stem)
def test_derived_numbers_follow_from_their_formulas(path: Path) -> None:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    functions = {name: getattr(math, name) for name in ("asin", "cos", "sin", "pi")}
    for entry in data.get("derived", []):
        value: Any = data
        for key in entry["at"].split("."):
            value = value[int(key)] if isinstance(value, list) else value[key]
        assert re.fullmatch(r"[-+*/().\d a-z]+", entry["formula"])
        expected = eval(entry["formula"], {"__builtins__": {}}, functions)
        assert value == pytest.approx(expected, rel=1e-15, abs=1e-17), entry["at"]


def test_the_linkage_of_both_arms_has_derived_numbers() -> None:
    for name, least in (("psm", 10), ("ecm", 7)):
        data = yaml.safe_load((CONFIG / f"{name}.yaml").read_text(encoding="utf-8"))
        assert len(data["derived"]) >= least


@pytest.mark.parametrize("arm", ["PSM", "ECM", "SUJ_PSM1", "SUJ_PSM2", "SUJ_PSM3", "SUJ_ECM"])
def test_masses_are_those_of_bodies(arm: str) -> None:
    links = [link for link in load_model(arm).links if link.inertial is not None]
    assert len(links) >= 4
    for link in links:
        assert link.inertial is not None and link.inertial.mass > 0.0 and link.inertial.source
        moments = np.linalg.eigvalsh(link.inertial.inertia)
        assert moments[0] > 0.0 and moments[0] + moments[1] >= moments[2], link.name


def test_the_counterweight_balances_the_insertion() -> None:
    mass = {link.name: link.inertial.mass for link in load_model("PSM").links if link.inertial}
    slides = mass["insertion_link"] + mass["adaptor_link"]
    assert mass["counterweight_link"] * 0.6025 == pytest.approx(slides, rel=1e-5)


def _broken(tmp_path: Path, old: str, new: str, file: str = "psm.yaml") -> Path:
    for path in CONFIG.glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        if path.name == file:
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "place", "reason"),
    [
        ("lower: -1.588", "lower: 1e-7", "joints.yaw.lower", "write 1.0e-7"),
        ("lower: -1.588", "lower: abc", "joints.yaw.lower", "must be a number, is text 'abc'"),
        ("lower: -1.588", "lower: true", "joints.yaw.lower", "must be a number"),
        ("lower: -1.588", "lower: .nan", "joints.yaw.lower", "must be finite"),
        ("lower: -1.588", "lower: 3.0", "joints.yaw", "must be below upper"),
        ("lower: -1.588, ", "", "joints.yaw", "missing: lower"),
        ("lower: -1.588", "lower: -1.588, lowest: 2.0", "joints.yaw", "unknown: lowest"),
        ("velocity: 0.2", "velocity: -0.2", "joints.insertion.velocity", "not be negative"),
        ("kind: prismatic", "kind: sliding", "joints.insertion.kind", "revolute, prismatic"),
        ("  pitch: {alpha", "  tilt: {alpha", "chain.tilt", "is no joint"),
        ("convention: modified", "convention: craig", "convention", "modified, standard"),
        ("parent: mount_link", "parent: nobody", "tree.links.yaw_link.parent", "'nobody'"),
        ("joint: pitch}", "joint: patch}", "tree.links.pitch_back_link.joint", "valid: yaw"),
        ("xyz: [0.0, -0.4864, 0.0]", "xyz: [0.0, 1.0]", "tree.links.mount_link.xyz", "3 numbers"),
        ("instrument_mount: adaptor_link", "instrument_mount: x", "tree.instrument_mount", "'x'"),
        ("c1: {pitch_front_link", "c1: {pitch_frnt_link", "loops.c1.pitch_frnt_link", "unknown"),
        (
            "  mount_link: {mass: 2.0161",
            "  mount_link: {mass: 0.0",
            "inertials.mount_link",
            "body",
        ),
        ("  mount_link: {mass", "  maunt_link: {mass", "inertials", "unknown link 'maunt_link'"),
        ("name: PSM", "name: PSM\nname: PSM", "", "given twice"),
        ("name: PSM", "name: [PSM", "", "not valid YAML"),
        ("name: PSM", "name: 3", "name", "must be text"),
    ],
)
def test_a_wrong_file_is_refused_with_file_and_place(
    tmp_path: Path, old: str, new: str, place: str, reason: str
) -> None:
    folder = _broken(tmp_path, old, new)
    with pytest.raises(ModelError) as caught:
        load_model("PSM", folder=folder)
    assert "psm.yaml" in caught.value.source
    assert place in caught.value.source
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("old", "new", "place", "reason"),
    [
        (
            "{like: standard, jaw: {lower: -0.698132}}",
            "{like: standart}",
            "like",
            "valid: standard",
        ),
        (
            "{like: standard, jaw: {lower: -0.698132}}",
            "{like: LARGE_NEEDLE_DRIVER_400006}",
            "like",
            "circle",
        ),
        ("jaw_length: 0.0102", "jaw_length: long", "jaw_length", "must be a number"),
        ("coupling: standard\n", "coupling: none\n", "coupling", "unknown coupling"),
        (
            "rotation: [[0.0, -1.0, 0.0]",
            "rotation: [[0.0, -2.0, 0.0]",
            "tip.rotation",
            "no rotation",
        ),
        ("d: 0.4162, theta: 0.0}", "d: 0.4162}", "chain.roll", "missing: theta"),
    ],
)
def test_a_wrong_instrument_is_refused_with_file_and_place(
    tmp_path: Path, old: str, new: str, place: str, reason: str
) -> None:
    folder = _broken(tmp_path, old, new, "instruments.yaml")
    with pytest.raises(ModelError) as caught:
        load_model("PSM", "400006", folder=folder)
    assert caught.value.source.startswith("instruments.yaml: instruments.LARGE_NEEDLE_DRIVER")
    assert caught.value.source.endswith(place)
    assert reason in caught.value.reason


def test_a_new_instrument_is_a_line_of_yaml(tmp_path: Path) -> None:
    new = "instruments:\n  MY_HOOK_499999: {like: cautery, chain: {wrist_yaw: {a: 0.02}}}\n"
    folder = _broken(tmp_path, "instruments:\n", new, "instruments.yaml")
    model = load_model("PSM", "499999", folder=folder)
    assert model.chain[5].a == 0.02
    assert model.chain[3].d == 0.4162
    assert model.joints[5].upper == 1.4835


def test_families_are_complete() -> None:
    """So that a reader without our merging, such as xacro, looks in two places at most."""
    data = yaml.safe_load((CONFIG / "instruments.yaml").read_text(encoding="utf-8"))
    for name, family in data["families"].items():
        assert {"generation", "ik", "joints", "chain", "tip", "jaw", "jaw_length"} <= set(family)
        assert "like" not in family, name
        assert list(family["joints"]) == list(family["chain"])
    for name, entry in data["instruments"].items():
        assert entry["like"] in data["families"], name


@pytest.mark.parametrize(
    ("instance", "model"),
    [("PSM1", "PSM"), ("psm3", "PSM"), ("ECM", "ECM"), ("RVM1", "RVM1"), ("SUJ_PSM1", "SUJ_PSM1")],
)
def test_the_name_of_an_instance_loads_its_model(instance: str, model: str) -> None:
    assert load_model(instance).name == load_model(model).name == model
    assert load_arm(instance).joint_names == load_arm(model).joint_names


def test_a_name_that_is_neither_model_nor_instance_lists_the_models() -> None:
    for name in ("PSM_1", "PXM1", "SUJ_PSM9", "1", ""):
        with pytest.raises(UnknownName, match=f"unknown arm '{name}'; valid: .*ECM.* PSM"):
            load_arm(name)
    with pytest.raises(UnknownName, match="unknown generation of PSM 'Xi'; valid: Classic, Si"):
        load_arm("PSM1", generation="Xi")
