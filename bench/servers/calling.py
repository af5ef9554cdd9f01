"""Round trips of services: one pose beside an empty service, and a batch of poses."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from dvrk_kinematics_interfaces.srv import SolveIk
from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics import load_arm
from dvrk_kinematics.ros.client.calls import call
from dvrk_kinematics.ros.common.conversions import matrices_to_cp, to_flat

__all__ = ["BATCH", "RoundTrips", "measure_round_trips"]

BATCH = 10_000
_WAIT_S = 60.0


class RoundTrips(NamedTuple):
    """Durations of calls, from the request to the answer (ms).

    Attributes:
        empty_p50: The empty service, median.
        empty_p10: The empty service, the fastest tenth: less disturbed by other processes.
        one_p50: One pose, median.
        one_p10: One pose, the fastest tenth.
        batch_p50: ``BATCH`` poses, median.
        batch_best: ``BATCH`` poses, the fastest.
        batch_ok: How many poses of the batch were solved.
    """

    empty_p50: float
    empty_p10: float
    one_p50: float
    one_p10: float
    batch_p50: float
    batch_best: float
    batch_ok: int

    @property
    def ratio(self) -> float:
        """One pose over the empty service, medians."""
        return self.one_p50 / self.empty_p50


def measure_round_trips(node: Node, calls: int, batches: int) -> RoundTrips:
    """Call in turns, so that all see the same machine load.

    Args:
        node: A spinning node.
        calls: How often the empty service and the one with a pose are called.
        batches: How often the batch is sent.
    """
    arm = load_arm("PSM", "400006")
    cp = matrices_to_cp(arm.forward(arm.random_q(np.random.default_rng(0), BATCH)))
    empty = node.create_client(Trigger, "empty")
    solve = node.create_client(SolveIk, "kinematics/PSM1/solve_ik")
    for client in (empty, solve):
        if not client.wait_for_service(_WAIT_S):
            raise RuntimeError(f"{client.service_name} does not appear")
    one, many = SolveIk.Request(cp=to_flat(cp[0])), SolveIk.Request(cp=to_flat(cp))

    pairs = [(_call(empty, Trigger.Request())[0], _call(solve, one)[0]) for _ in range(calls)]
    # The first ones find each other and warm up.
    empties, ones = np.array(pairs[calls // 10 :]).T
    answers = [_call(solve, many) for _ in range(batches)]
    spent = [ms for ms, _ in answers]
    ok = int(np.sum(np.array(answers[-1][1].status) == SolveIk.Response.OK))
    return RoundTrips(
        float(np.median(empties)),
        float(np.percentile(empties, 10)),
        float(np.median(ones)),
        float(np.percentile(ones, 10)),
        float(np.median(spent)),
        min(spent),
        ok,
    )


def _call(client: Any, request: Any) -> tuple[float, Any]:
    """Duration of a call (ms), and its answer."""
    started = time.perf_counter()
    answer = call(client, request, _WAIT_S)
    return 1e3 * (time.perf_counter() - started), answer
