"""Guards rclpy's parameter services, so that no request can end a node.

Answers rclpy 7.1, which raises for a value of a type that does not exist. Needed while this
passes: ``test_plain_rclpy.py::test_a_parameter_of_no_known_type_ends_an_executor``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import ParameterType, SetParametersResult
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.node import Node

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.ros.common.explain import explain

__all__ = ["guard_parameter_services"]

_Answer = Callable[[Any, Any], Any]

_LAST_TYPE = ParameterType.PARAMETER_STRING_ARRAY


def guard_parameter_services(node: Node) -> None:
    """Make a node's parameter services answer every request, whatever it holds.

    rclpy raises an exception for unexpected data, such as a value of a nonexistent type, and that
    ends the node.

    Args:
        node: The node.
    """
    guards: dict[Any, Callable[[_Answer, Any], _Answer]] = {
        SetParameters: _guard_each,
        SetParametersAtomically: _guard_all,
        DescribeParameters: _guard_question,
        GetParameters: _guard_question,
        GetParameterTypes: _guard_question,
        ListParameters: _guard_question,
    }
    for service in node.services:
        guard = guards.get(service.srv_type)
        if guard is not None:
            service.callback = guard(service.callback, node.get_logger())


def _guard_each(answer: _Answer, logger: Any) -> _Answer:
    def handle(request: Any, response: Any) -> Any:
        for one in request.parameters:
            try:
                _check_type(one)
                answer(SetParameters.Request(parameters=[one]), response)
            except Exception as error:
                response.results.append(_refusal(error, logger))
        return response

    return handle


def _guard_all(answer: _Answer, logger: Any) -> _Answer:
    def handle(request: Any, response: Any) -> Any:
        try:
            for one in request.parameters:
                _check_type(one)
            return answer(request, response)
        except Exception as error:
            response.result = _refusal(error, logger)
        return response

    return handle


def _guard_question(answer: _Answer, logger: Any) -> _Answer:
    def handle(request: Any, response: Any) -> Any:
        try:
            return answer(request, response)
        except Exception as error:
            explain(error, logger)
            return type(response)()

    return handle


def _check_type(parameter: Any) -> None:
    kind = parameter.value.type
    if kind > _LAST_TYPE:
        reason = f"there is no type of value {kind}; they are 0 to {_LAST_TYPE}"
        raise InvalidInput(parameter.name, reason)


def _refusal(error: Exception, logger: Any) -> SetParametersResult:
    return SetParametersResult(successful=False, reason=explain(error, logger))
