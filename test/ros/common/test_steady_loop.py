"""The steady loop: its schedule on a clock of the test's own, and its manners on the real one."""

from __future__ import annotations

import gc
import sys
import threading

import numpy as np
import pytest

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.ros.common.steady_loop import PeriodLog, SteadyLoop, Tick

PERIOD_NS = 5_000_000


class SteppedClock:
    """Time that passes only while the loop sleeps or a tick says that it works."""

    def __init__(self) -> None:
        self.ns = 1_000_000_007

    def now_ns(self) -> int:
        return self.ns

    def sleep_until(self, deadline_ns: int) -> None:
        self.ns = max(self.ns, deadline_ns)


def run_schedule(work_ns: list[int]) -> tuple[list[Tick], SteadyLoop]:
    """Run a loop whose ticks take the given times."""
    clock = SteppedClock()
    ticks: list[Tick] = []

    def tick(now: Tick) -> None:
        clock.ns += work_ns[len(ticks)]
        ticks.append(now)
        if len(ticks) == len(work_ns):
            loop.stop()

    loop = SteadyLoop(PERIOD_NS * 1e-9, tick, clock=clock)
    loop.start()
    assert loop.join(20.0)
    return ticks, loop


def test_ticks_come_at_multiples_of_the_period_whatever_they_cost() -> None:
    ticks, loop = run_schedule([0, 4_999_999, 1, 2_500_000, 0])
    assert np.diff([tick.now_ns for tick in ticks]).tolist() == [PERIOD_NS] * 4
    assert [tick.number for tick in ticks] == [1, 2, 3, 4, 5]
    assert loop.log.missed == 0


def test_missed_ticks_are_counted_not_made_up_for_and_the_phase_stays() -> None:
    ticks, loop = run_schedule([0, 12_000_000, 0, 5_000_000, 0, 1_000_000_000, 0])
    assert [tick.number for tick in ticks] == [1, 2, 5, 6, 8, 9, 210]
    assert [tick.missed for tick in ticks] == [0, 0, 2, 0, 1, 0, 200]
    first = ticks[0].due_ns
    assert all((tick.due_ns - first) % PERIOD_NS == 0 for tick in ticks)
    assert loop.log.missed == 203


def test_an_exception_ends_the_loop_and_is_handed_over() -> None:
    seen: list[BaseException] = []
    ended = threading.Event()

    def fail(_: Tick) -> None:
        raise ValueError("broken tick")

    def note(error: BaseException) -> None:
        seen.append(error)
        ended.set()

    loop = SteadyLoop(0.001, fail, on_error=note)
    loop.start()
    assert ended.wait(10)
    assert loop.stop()
    assert str(loop.error) == "broken tick" and seen == [loop.error]


def test_collector_and_switch_interval_are_set_while_any_loop_runs() -> None:
    before = sys.getswitchinterval()
    assert gc.isenabled()
    inside: list[tuple[bool, float]] = []
    ready = threading.Event()

    def tick(_: Tick) -> None:
        inside.append((gc.isenabled(), sys.getswitchinterval()))
        ready.set()

    first, second = SteadyLoop(0.001, tick), SteadyLoop(0.001, lambda _: None)
    first.start()
    second.start()
    assert ready.wait(10)
    assert first.stop()
    assert not gc.isenabled()
    assert second.stop()
    assert gc.isenabled() and sys.getswitchinterval() == before
    assert set(inside) == {(False, 0.0005)}


@pytest.mark.parametrize(("at_rest", "passes_expected"), [(False, 0), (True, 1)])
def test_garbage_is_collected_by_hand_only_at_rest(at_rest: bool, passes_expected: int) -> None:
    passes: list[str] = []
    clock = SteppedClock()

    def watch(phase: str, info: dict[str, int]) -> None:
        if info["generation"] == 2 and phase == "stop":
            passes.append(threading.current_thread().name)

    def tick(now: Tick) -> None:
        if now.number == 1:
            gc.callbacks.append(watch)
        if now.number == 1100:
            loop.stop()

    # 5.5 s of robot time: at rest, one pass is due.
    loop = SteadyLoop(0.005, tick, is_at_rest=lambda: at_rest, name="watched", clock=clock)
    loop.start()
    try:
        assert loop.join(20.0)
    finally:
        gc.callbacks.remove(watch)
    assert passes == ["watched"] * passes_expected


def test_stop_before_start_and_twice_is_harmless() -> None:
    loop = SteadyLoop(0.001, lambda _: None)
    assert loop.stop()
    assert loop.stop()


@pytest.mark.parametrize("period", [0.0, -1.0, float("nan")])
def test_a_period_that_is_not_positive_is_refused(period: float) -> None:
    with pytest.raises(InvalidInput, match="not positive"):
        SteadyLoop(period, lambda _: None)


def test_period_log_keeps_the_latest_and_sums_up() -> None:
    log = PeriodLog(PERIOD_NS)
    assert np.isnan(log.summary().p99)
    begins = np.cumsum(np.r_[0, np.full(99_999, 5_000_000)])
    for begin in begins.tolist():
        log.add(begin, 0)
    log.add(int(begins[-1]) + 25_000_000, 4)
    summary = log.summary()
    assert (summary.ticks, summary.missed) == (100_001, 4)
    assert summary.p50 == summary.p99 == pytest.approx(0.005)
    assert summary.longest == pytest.approx(0.025)
    assert log.periods_ns()[-1] == 25_000_000
