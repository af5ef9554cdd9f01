"""Parameters: described, checked as a whole, changed as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.ros.client.calls import call
from dvrk_kinematics.ros.common.parameters import Parameters, parameter


@dataclass(frozen=True)
class Settings:
    """A few parameters of every kind."""

    rate: float = parameter(200.0, "rate of the loop", unit="Hz", minimum=1.0, maximum=1000.0)
    slow_rate: float = parameter(20.0, "rate of the rest", unit="Hz", minimum=1.0)
    arm: str = parameter("PSM1", "arm to drive", read_only=True)
    hardware: str = parameter("simulated", "what to drive", choices=["simulated", "dvrk"])
    depth: int = parameter(3, "queue length", minimum=1, maximum=10)
    gains: tuple[float, ...] = parameter((1.0, 2.0), "gains", minimum=0.0)
    verbose: bool = parameter(False, "whether to tell more")

    def check(self) -> None:
        if self.slow_rate > self.rate:
            raise InvalidInput("slow_rate", f"{self.slow_rate} is above rate = {self.rate}")


def overrides(**values: Any) -> dict[str, Any]:
    return {
        "parameter_overrides": [Parameter(name, value=value) for name, value in values.items()]
    }


def test_defaults_and_overrides_make_one_immutable_object(spinning: Callable[..., Node]) -> None:
    node = spinning("settings", **overrides(rate=100.0, gains=[3.0, 4.0, 5.0]))
    values = Parameters(node, Settings).values
    assert values == Settings(rate=100.0, gains=(3.0, 4.0, 5.0))
    with pytest.raises(FrozenInstanceError):
        values.rate = 1.0  # type: ignore[misc]


def test_a_whole_number_stands_for_a_float_and_a_number_for_a_name(
    spinning: Callable[..., Node],
) -> None:
    node = spinning("settings", **overrides(rate=100, gains=[3, 4], arm=400006))
    parameters = Parameters(node, Settings)
    assert parameters.values == Settings(rate=100.0, gains=(3.0, 4.0), arm="400006")
    assert node.set_parameters([Parameter("rate", value=50)])[0].successful
    assert parameters.values.rate == 50.0 and isinstance(node.get_parameter("rate").value, float)
    assert not node.set_parameters([Parameter("depth", value=2.0)])[0].successful


def test_parameters_of_other_nodes_and_of_rclpy_are_let_through(
    spinning: Callable[..., Node],
) -> None:
    others = {"velocity_scale": 0.1, "qos_overrides./tf.publisher.depth": 5, "use_sim_time": False}
    node = spinning("settings", **overrides(**others))
    assert Parameters(node, Settings).values == Settings()


def test_tools_see_description_unit_range_and_read_only(spinning: Callable[..., Node]) -> None:
    node = spinning("settings")
    Parameters(node, Settings)
    rate, hardware = node.describe_parameters(["rate", "hardware"])
    assert (rate.description, rate.additional_constraints) == ("rate of the loop", "unit: Hz")
    bounds = rate.floating_point_range[0]
    assert (bounds.from_value, bounds.to_value) == (1.0, 1000.0)
    assert hardware.additional_constraints == "one of: simulated, dvrk"
    assert node.describe_parameter("arm").read_only


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rate": 0.5}, "rate"),
        ({"rate": float("nan")}, "rate"),
        ({"hardware": "real"}, "'real' is none of simulated, dvrk"),
        ({"depth": 11}, "depth"),
        ({"gains": [1.0, -1.0]}, "-1.0 is below 0.0"),
        ({"rate": "fast"}, "must be float"),
        ({"rate": True}, "must be float"),
        ({"depth": 3.0}, "must be int"),
        ({"verbose": 1}, "must be bool"),
        ({"gains": 1.0}, "must be list of float"),
        ({"gains": ["a"]}, "must be list of float"),
        ({"rat": 100.0}, "has no such parameter; did you mean rate\\? there are: rate, slow_rate"),
        ({"slow_rate": 300.0}, "300.0 is above rate = 200.0"),
    ],
)
def test_a_bad_value_at_start_says_which_and_why(
    spinning: Callable[..., Node], given: dict[str, Any], message: str
) -> None:
    node = spinning("settings", **overrides(**given))
    with pytest.raises(InvalidInput, match=message):
        Parameters(node, Settings)


def test_a_change_is_taken_as_a_whole(spinning: Callable[..., Node]) -> None:
    seen: list[Settings] = []
    node = spinning("settings")
    parameters = Parameters(node, Settings, on_change=seen.append)
    change = [Parameter("rate", value=10.0), Parameter("slow_rate", value=5.0)]
    assert node.set_parameters_atomically(change).successful
    assert parameters.values == Settings(rate=10.0, slow_rate=5.0)
    assert seen == [parameters.values]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("rate", 10.0, "slow_rate: 20.0 is above rate = 10.0"),
        ("hardware", "real", "none of simulated, dvrk"),
        ("arm", "PSM2", "read-only"),
    ],
)
def test_a_refused_change_leaves_everything_and_says_why(
    spinning: Callable[..., Node], name: str, value: Any, reason: str
) -> None:
    node = spinning("settings")
    parameters = Parameters(node, Settings)
    result = node.set_parameters([Parameter(name, value=value)])[0]
    assert not result.successful and reason in result.reason
    assert parameters.values == Settings()
    assert node.get_parameter(name).value == getattr(Settings(), name)


def set_parameters(client: Node, server: Node, *values: tuple[str, ParameterValue]) -> Any:
    """Ask as anybody on the network would, past the checks of rclpy's own client."""
    asked = [ParameterMessage(name=name, value=value) for name, value in values]
    name = f"{server.get_name()}/set_parameters"
    together = client.create_client(SetParametersAtomically, f"{name}_atomically")
    all_at_once = SetParametersAtomically.Request(parameters=asked)
    result = call(together, all_at_once, 30.0).result
    one_by_one = client.create_client(SetParameters, name)
    return result, call(one_by_one, SetParameters.Request(parameters=asked), 30.0).results


def test_a_type_of_value_that_does_not_exist_is_refused_and_ends_nothing(
    spinning: Callable[..., Node],
) -> None:
    node, client = spinning("settings"), spinning("client")
    parameters = Parameters(node, Settings)
    good = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=150.0)
    for kind in (10, 77, 255):
        result, results = set_parameters(
            client, node, ("rate", ParameterValue(type=kind)), ("rate", good)
        )
        assert not result.successful and not results[0].successful
        assert f"there is no type of value {kind}; they are 0 to 9" in result.reason
        assert results[0].reason == result.reason
        assert results[1].successful and parameters.values.rate == 150.0


def test_simulated_time_cannot_be_switched_while_a_node_runs(
    spinning: Callable[..., Node],
) -> None:
    client = spinning("client")
    for is_on in (False, True):
        node = spinning(f"settings_{is_on}", **overrides(use_sim_time=is_on))
        Parameters(node, Settings)
        for value in (is_on, not is_on):
            kind = ParameterType.PARAMETER_BOOL
            asked = ("use_sim_time", ParameterValue(type=kind, bool_value=value))
            result, (single,) = set_parameters(client, node, asked)
            assert result.successful is single.successful is (value == is_on)
            assert value == is_on or "to change it, start the node anew" in result.reason
        assert node.get_clock().ros_time_is_active is is_on
