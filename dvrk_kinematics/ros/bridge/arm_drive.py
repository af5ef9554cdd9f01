"""The part of a bridge that moves its arm: one object, ticked by the control loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rclpy.node import Node

from dvrk_kinematics.driver import (
    ArmState,
    Feedback,
    Finding,
    Guard,
    Player,
    Reason,
    prepare_goal,
)
from dvrk_kinematics.driver.jaw import JawPlayer, JawSettings
from dvrk_kinematics.driver.jog.jog import Jog
from dvrk_kinematics.driver.jog.jog_command import JogCommand
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.models.urdf.urdf_joint import Mimic
from dvrk_kinematics.ros.bridge.arm_identity import ArmIdentity
from dvrk_kinematics.ros.bridge.arm_scripts import SILENT_S
from dvrk_kinematics.ros.bridge.arm_search import ArmSearch
from dvrk_kinematics.ros.bridge.crtk_port import CrtkPort
from dvrk_kinematics.ros.bridge.driver_settings import (
    make_guard_settings,
    make_jog_settings,
    make_player_settings,
)
from dvrk_kinematics.ros.bridge.gripper_action import GripperAction
from dvrk_kinematics.ros.bridge.jog_topics import JogTopics
from dvrk_kinematics.ros.bridge.other_clients import OtherClients
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.bridge.speed_topics import SpeedTopics
from dvrk_kinematics.ros.bridge.state_commands import StateCommands
from dvrk_kinematics.ros.bridge.trajectory_action import TrajectoryAction
from dvrk_kinematics.ros.common.explain import log_failure
from dvrk_kinematics.ros.common.joint_language import controller_language, description_language
from dvrk_kinematics.ros.common.sole_publisher import find_elsewhere
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer

__all__ = ["ArmDrive"]

_FEEDBACK_EVERY_S = 0.05
_QUIET = (Reason.REACHED, Reason.REPLACED, Reason.CANCELLED, Reason.JOG_ENDED)
"""Reasons for a stop that need no warning."""


@dataclass(frozen=True, slots=True)
class _Target:
    """The target of the state commands."""

    drive: ArmDrive

    def state_command(self, word: str) -> None:
        self.drive.port.state_command(word)

    def stop_motion(self) -> None:
        self.drive.drop_arriving()
        self.drive.stop(Finding(Reason.HOLD_REQUESTED))

    def hold(self) -> None:
        self.drive.drop_arriving()
        self.drive.guard.hold()

    def drop_waiting(self) -> bool:
        has_waiting = self.drive.has_waiting
        self.drive.drop_arriving()
        return has_waiting

    @property
    def is_idle(self) -> bool:
        return self.drive.is_idle

    @property
    def is_heard(self) -> bool:
        return self.drive.port.is_heard

    @property
    def is_stranger(self) -> bool:
        return self.drive.identity.is_stranger

    def find_rivals(self) -> list[str]:
        return self.drive.find_rivals()

    def find_missing(self) -> Finding | None:
        return self.drive.search.find_missing()

    def find_refusal(self) -> Finding | None:
        return self.drive.identity.find_refusal()

    def find_obstacle(self) -> Finding | None:
        return self.drive.guard.find_start_obstacle()


class ArmDrive:
    """The player and the guard of one arm, with all their inputs.

    Args:
        node: The node.
        arm: The arm's kinematics.
        settings: Parameters of the bridge.
        tip: Name of the tip's link on tf.
        movable: How the published joints follow the controller's, by name.
        read_wall_ns: Reads the clock of the goals' stamps (ns).

    Attributes:
        port: The connection to the arm.
        guard: The only path for commands to the arm.
        player: Plays goals.
        commands: The services that change its state.
        identity: Who is at the other end.
        search: Whether the arm was found.
        last_refusal: Reason for the last refusal; None before the first.
        last_jaw_stop: Why the jaw last stopped short of its goal; None before the first.
    """

    def __init__(
        self,
        node: Node,
        arm: Arm,
        settings: BridgeSettings,
        tip: str,
        movable: Mapping[str, Mimic],
        read_wall_ns: Callable[[], int],
    ) -> None:
        has_jaw, has_tool = arm.jaw is not None, arm.model.instrument is not None
        prefix = settings.joint_prefix
        language = description_language(arm.joint_names, prefix, movable)
        guard_settings = make_guard_settings(arm, settings)
        player_settings = self._player_settings = make_player_settings(arm, settings)
        self._model = arm
        self._others = OtherClients(node, settings.arm, has_jaw)
        self.port = CrtkPort(node, settings.arm, arm.joint_names, has_jaw, has_tool, self._others)
        self.guard = Guard(self.port, guard_settings)
        self.jog = Jog(self.guard, arm, make_jog_settings(settings), player_settings)
        self.player = Player(self.guard, player_settings, self.jog)
        self.identity = ArmIdentity(node, settings.arm, settings.hardware)
        self.search = ArmSearch(node.get_logger(), settings.arm, self.identity, self.port)
        self.commands = StateCommands(node, settings, _Target(self))
        self.last_refusal: Finding | None = None
        self.last_jaw_stop: Finding | None = None
        self._heard_ns: int | None = None
        self._answer_s = settings.state_timeout
        self._node = node
        self.refused_s = self.stopped_s = self.jaw_stopped_s = 0.0
        """Times of the last refusal, motion stop and jaw stop (s, monotonic)."""
        self._logger = node.get_logger()
        self._read_wall_ns = read_wall_ns
        self._speed = SpeedTopics(node, settings.arm)
        controller = controller_language(arm.joint_names)
        self._topics = JogTopics(node, settings, language, controller, tip)
        self._action = TrajectoryAction(
            node,
            settings.arm,
            arm.joint_names,
            language,
            lambda goal: prepare_goal(goal, self.guard.settings, self._player_settings),
            settings.max_points,
        )
        self._gripper = None
        self._jaw = None
        if guard_settings.jaw is not None and arm.jaw is not None:
            jaw_settings = JawSettings(period_s=player_settings.period_s)
            self._jaw = JawPlayer(self.guard, self.port, guard_settings.jaw, jaw_settings)
            jaw_language = description_language([arm.jaw.name], prefix, movable)
            self._gripper = GripperAction(node, settings.arm, jaw_language, self._jaw)
        self._feedback: tuple[Feedback, int] | None = None
        self._fed_back_ns = 0
        self._told_stop: Finding | None = None
        self._told_error: Exception | None = None
        create_steady_timer(node, _FEEDBACK_EVERY_S, self._feed_back)

    def adopt(self, settings: BridgeSettings) -> None:
        """Take parameters that changed while nothing moved.

        If a goal is being checked meanwhile, the guard checks it again, point by point.
        """
        self.guard.settings = make_guard_settings(self._model, settings)
        self._player_settings = make_player_settings(self._model, settings)
        self.player.adopt(self._player_settings)
        self.jog.adopt(make_jog_settings(settings))
        if self._jaw is not None and self.guard.settings.jaw is not None:
            self._jaw.limits = self.guard.settings.jaw
        self._answer_s = settings.state_timeout
        self.commands.adopt(settings)
        self._topics.adopt(settings)

    def find_rivals(self) -> list[str]:
        """Names of all bridges of the arm, if there are any on other machines."""
        return find_elsewhere(self._node.get_publishers_info_by_topic(self._speed.topic))

    @property
    def is_idle(self) -> bool:
        """Whether none of our motions is active or waiting."""
        return self.player.is_idle and (self._jaw is None or self._jaw.feedback() is None)

    @property
    def has_waiting(self) -> bool:
        """Whether a goal waits for the arm to be found."""
        has_grip = self._gripper is not None and self._gripper.has_waiting
        return has_grip or self._action.has_waiting

    @property
    def state(self) -> ArmState | None:
        """The last state of the arm."""
        return self.guard.state

    def stop(self, finding: Finding) -> None:
        """Stop any motion in the way that the reason requires; in the loop's thread."""
        self.player.stop(finding)
        if self._jaw is not None:
            self._jaw.stop(finding)

    def tick(self, now_ns: int) -> None:
        """Handle requests, motion and answers, after the arm was polled.

        Args:
            now_ns: Time now (monotonic).
        """
        self._watch_silence()
        self._watch_identity(now_ns)
        self._hear_others(now_ns)
        self._take_speed()
        refused = self.commands.find_refusal()
        # Goals that waited for the arm also wait for requests that bring it up.
        is_coming_up = self.has_waiting and bool(self.commands.bringing_up)
        is_coming_up = is_coming_up or self.commands.is_coming_up
        is_waiting = is_coming_up or self.search.find_missing_for_goals() is not None
        self._take_goals(refused, is_waiting, now_ns)
        self._take_jog(refused, now_ns)
        if self._gripper is not None:
            for finding in self._gripper.take_requests(refused, is_waiting, now_ns):
                self._refuse("gripper_cmd", finding)
        self.player.tick(now_ns)
        if self._jaw is not None:
            self._jaw.tick(now_ns)
        if self.guard.state is not None:
            self.commands.tick(self.guard.state, now_ns)
        self.search.tell([*self.commands.bringing_up, *self._waiting_actions()], now_ns)
        self.send_results()
        self._speed.tell(self.player.speed, self.player.scaling.factor)
        self._sample_feedback(now_ns)

    def drop_arriving(self) -> None:
        """Drop all goals that have arrived but not begun; in the loop's thread."""
        self._action.drop_arriving()
        if self._gripper is not None:
            self._gripper.drop_arriving()

    def _waiting_actions(self) -> list[str]:
        names = ["follow_joint_trajectory"] if self._action.has_waiting else []
        has_grip = self._gripper is not None and self._gripper.has_waiting
        return [*names, "gripper_cmd"] if has_grip else names

    def _watch_silence(self) -> None:
        """After a silence, ask for the arm's identity again before we send anything to it."""
        before, self._heard_ns = self._heard_ns, self.port.measured.arrival_ns
        if before is None or self._heard_ns is None:
            return
        if (self._heard_ns - before) * 1e-9 > SILENT_S:
            self.identity.ask_again()

    def _watch_identity(self, now_ns: int) -> None:
        """Stop any motion if the arm may no longer be the one on which it began."""
        stranger = self.identity.find_refusal()
        if stranger is None or stranger.reason is not Reason.NOT_SIMULATED or self.is_idle:
            return
        is_jaw_idle = self._jaw is None or self._jaw.feedback() is None
        is_waiting = is_jaw_idle and self.identity.is_asking and self.player.wait(now_ns)
        # Send nothing while the receiver is unknown, but do not wait forever.
        if not is_waiting or self.identity.asked_s > self._answer_s:
            self.stop(stranger)

    def _hear_others(self, now_ns: int) -> None:
        """Yield to commands that other clients send to the arm."""
        heard = self._others.take(now_ns)
        if heard.is_hold:
            self.guard.hear_hold()
            self.drop_arriving()
            self.stop(Finding(Reason.HOLD_REQUESTED, "by another client of the arm"))
        if heard.arm is not None:
            self.guard.hear_command(heard.arm)
        if heard.jaw is not None and self._jaw is not None:
            self._jaw.stop(heard.jaw)

    def _take_speed(self) -> None:
        factor = self._speed.take()
        if factor is None:
            return
        self.player.scaling.wish = factor
        if self._jaw is not None:
            self._jaw.scaling.wish = factor

    @property
    def slow_downs(self) -> int:
        """How often lateness has slowed down a motion of the arm or the jaw so far."""
        jaw = 0 if self._jaw is None else self._jaw.scaling.slow_downs
        return self.player.scaling.slow_downs + jaw

    def close(self) -> None:
        """Accept no more goals."""
        self._action.close()
        self._others.close()

    def _take_goals(self, refused: Finding | None, is_waiting: bool, now_ns: int) -> None:
        cancelled = self._action.find_cancelled()
        for goal_id, prepared in self._action.take_ready(is_waiting, cancelled, now_ns):
            found: Finding | None
            if isinstance(prepared, Finding):
                found = prepared
            else:
                found = refused or self.player.accept(prepared, self._wall_ns())
            if found is not None:
                self._refuse("follow_joint_trajectory", found)
                self._action.refuse(goal_id, found)
        for goal_id in cancelled:
            self.player.cancel(goal_id)

    def _wall_ns(self) -> int:
        """Time on the clock of the stamps when the arm was last read: waits begin there."""
        return self._read_wall_ns() - (time.monotonic_ns() - self.guard.now_ns)

    def _take_jog(self, refused: Finding | None, now_ns: int) -> None:
        command: JogCommand | Finding | None
        try:
            command = self._topics.take()
        except Exception as error:
            # A bad message must not affect anything else.
            log_failure(self._logger, "jog", error)
            command = Finding(Reason.JOG_FAILED, repr(error))
        if command is None:
            return
        found: Finding | None
        if isinstance(command, Finding):
            found = command
        elif refused is not None and not command.is_zero:
            # If a stick is held while the arm is being enabled, it must be released first.
            found = self.jog.refuse(refused, now_ns)
        else:
            found = self.player.jog(command, now_ns)
        if found is not None:
            self._refuse("jog", found)

    def _refuse(self, what: str, finding: Finding) -> None:
        self.last_refusal, self.refused_s = finding, time.monotonic()
        self._logger.warning(f"{what} refused: {finding}", throttle_duration_sec=1.0)

    def send_results(self) -> None:
        """Send results of ended goals to clients, and log stops; in the loop's thread."""
        for result in self.player.take_results():
            self._action.finish(result)
        error = self.jog.error
        if error is not None and error is not self._told_error:
            self._told_error = error
            log_failure(self._logger, "jog", error)
        stop = self.player.last_stop
        if stop is not self._told_stop:
            self._told_stop, self.stopped_s = stop, time.monotonic()
            self._tell_stop(stop)
        if self._gripper is not None:
            for finding in self._gripper.send_results():
                if finding.reason is not Reason.REACHED:
                    self.last_jaw_stop, self.jaw_stopped_s = finding, time.monotonic()
                self._tell_stop(finding, "jaw ")

    def _tell_stop(self, stop: Finding | None, what: str = "") -> None:
        if stop is not None and stop.reason not in _QUIET:
            self._logger.warning(f"{what}stopped: {stop}")

    def _sample_feedback(self, now_ns: int) -> None:
        if now_ns - self._fed_back_ns >= round(_FEEDBACK_EVERY_S * 1e9):
            # Not in every tick, since it samples the path again. Its stamp is that of the tick,
            # so that a comparison with the arm's states shows no false lag.
            feedback, self._fed_back_ns = self.player.feedback(), now_ns
            self._feedback = None if feedback is None else (feedback, self._wall_ns())

    def _feed_back(self) -> None:
        """Publish feedback from the executor's thread, which is less time-critical."""
        feedback = self._feedback
        if feedback is not None:
            self._action.feed_back(*feedback)
        if self._gripper is not None:
            self._gripper.feed_back()
