"""Waiting with patience: what is said, and when it ends."""

from __future__ import annotations

import threading

import pytest

from dvrk_kinematics.errors import CallFailed
from dvrk_kinematics.ros.common import patience as module
from dvrk_kinematics.ros.common.patience import PATIENT, Patience, looking_at


@pytest.fixture
def said(monkeypatch) -> list[str]:
    """What is said by PATIENT, which says it soon."""
    monkeypatch.setattr(module, "_TELL_S", 0.15)
    return []


def test_what_has_come_is_not_waited_for(capsys) -> None:
    event = threading.Event()
    event.set()
    assert PATIENT.wait(event.wait, "nothing", 0.0)
    assert PATIENT.wait(looking_at(lambda: True), "nothing", 0.0)
    assert capsys.readouterr().err == ""


def test_a_long_wait_is_told_once_and_ends_with_the_event(said) -> None:
    event = threading.Event()

    def hear(text: str) -> None:
        said.append(text)
        event.set()

    assert Patience(hear).wait(looking_at(event.is_set), "the service PSM1/enable", 42.0)
    assert said == ["waiting for the service PSM1/enable (up to 42 s)"]


def test_a_wait_is_told_on_the_terminal_and_has_a_bound(said, capsys) -> None:
    assert not PATIENT.wait(threading.Event().wait, "Godot", 0.3)
    assert capsys.readouterr() == ("", "waiting for Godot (up to 0 s)\n")


def test_a_check_ends_a_wait(said) -> None:
    def check() -> None:
        raise CallFailed("bridge_PSM1", 1.0, "ended with exit code -9")

    with pytest.raises(CallFailed, match="bridge_PSM1: ended with exit code -9"):
        Patience(said.append, check).wait(threading.Event().wait, "Godot")
    assert said == []
