"""What is recorded: the standard list, what a user adds, and what rosbag2 is told."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from dvrk_kinematics.errors import InvalidInput, ModelError
from dvrk_kinematics.ros.crtk.contract import CONTRACT, Kind, type_name
from dvrk_kinematics.ros.recorder.topics import (
    choose_topics,
    find_topics_file,
    find_unheard,
    qos_overrides,
    standard_topics,
)
from dvrk_kinematics.ros.recorder.type_definition import find_definition, find_message_class

STANDARD = standard_topics(["PSM1"])
FEEDBACK = "control_msgs/action/FollowJointTrajectory_FeedbackMessage"


def test_the_standard_list_agrees_with_the_contract_of_the_arms() -> None:
    known = {topic.name: topic for topic in CONTRACT[Kind.PSM].topics}
    shared = 0
    for recorded in STANDARD:
        topic = known.get(recorded.name.removeprefix("/PSM1/"))
        if topic is not None:
            shared += 1
            assert recorded.type_name == type_name(topic.message), recorded
            assert bool(recorded.latched) == (topic.qos.durability.name == "TRANSIENT_LOCAL")
    assert shared == 14


def test_the_standard_list_has_what_the_official_player_of_bags_reads() -> None:
    """dvrk_bag_replay takes setpoints of joints, of the tip in either frame, and of the jaw."""
    names = {topic.name for topic in STANDARD}
    read = ("setpoint_js", "setpoint_cp", "local/setpoint_cp", "jaw/setpoint_js")
    assert {f"/PSM1/{name}" for name in read} <= names


def test_latched_topics_come_first_and_names_begin_in_the_namespace() -> None:
    chosen = choose_topics(["ECM"], ["standard", "camera", "/clock"], "/lab")
    latched = [bool(topic.latched) for topic in chosen]
    assert latched == sorted(latched, reverse=True)
    names = {topic.name for topic in chosen}
    assert {"/lab/ECM/measured_js", "/lab/camera", "/clock", "/tf"} <= names
    assert len(names) == len(chosen)


def test_a_standard_topic_by_name_keeps_its_type_and_no_other_comes() -> None:
    (only,) = choose_topics(["PSM1"], ["/PSM1/operating_state"])
    assert (only.type_name, only.latched) == ("crtk_msgs/msg/OperatingState", 100)


def test_nothing_to_record_is_refused() -> None:
    with pytest.raises(InvalidInput, match="topics: none given"):
        choose_topics(["PSM1"], [])


def test_an_arm_is_heard_by_what_it_alone_sends() -> None:
    recorded = {"/lab/PSM1/measured_js", "/lab/PSM2/robot_description", "/ECM/operating_state"}
    arms = ["PSM1", "PSM2", "ECM", "PSM2"]
    assert find_unheard(arms, ["standard"], "/lab", recorded) == ["PSM2", "ECM"]
    assert find_unheard(arms, ["/rosout"], "/lab", recorded) == []


def test_a_wrong_file_is_told_with_the_place(tmp_path: Path) -> None:
    file = tmp_path / "topics.yaml"
    file.write_text("arm: {<arm>/a: {type: std_msgs/msg/String, latched: 0.5}}\neverywhere: {}\n")
    with pytest.raises(ModelError, match=r"arm\.<arm>/a: latched must be a whole number"):
        standard_topics(["PSM1"], file=file)


def test_the_overrides_for_rosbag2_are_those_of_the_list() -> None:
    written = find_topics_file().with_name("qos_overrides.yaml").read_text(encoding="utf-8")
    topics = standard_topics(["PSM1", "PSM2", "PSM3", "ECM"])
    assert yaml.safe_load(written) == yaml.safe_load(qos_overrides(topics))
    one = yaml.safe_load(written)["/PSM1/operating_state"]
    assert one == {
        "history": "keep_last",
        "depth": 1000,
        "reliability": "reliable",
        "durability": "transient_local",
    }


@pytest.mark.parametrize("name", sorted({FEEDBACK, *(topic.type_name for topic in STANDARD)}))
def test_a_reader_without_the_types_gets_the_hash_of_the_publishers(name: str) -> None:
    """The text alone must give the hash that rosidl gave: nothing is missing or changed."""
    definition = find_definition(name)
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(definition.text, name))
    assert find_message_class(name) is not None
    if "/action/" in name:
        # Definitions in a bag have no folder, so that its parts cannot keep their full names.
        assert [field for field, _ in store.fielddefs[name][1]] == ["goal_id", "feedback"]
        assert definition.hash.startswith("RIHS01_")
    else:
        assert store.hash_rihs01(name) == definition.hash


@pytest.mark.parametrize("name", ["absent_msgs/msg/Thing", "std_msgs/msg/Absent", "String"])
def test_a_type_that_is_not_installed_is_told(name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        find_message_class(name)
    with pytest.raises(InvalidInput, match=name):
        find_definition(name)
