"""Lines and bars: what a terminal sees, and what a pipe or the imitation of a terminal gets."""

from __future__ import annotations

import subprocess
import sys

from screen import become_its_terminal, read_screen, show

SHOW = """
import sys
from dvrk_kinematics.ros.common.terminal import ProgressBar, Terminal
terminal = Terminal(sys.stdout)
progress = ProgressBar(terminal, "tracing")
for step in range(101):
    progress.show(0.01 * step, "note")
terminal.say("done")
"""


PAGES = """
import sys
from dvrk_kinematics.ros.common.terminal import Page
page = Page(sys.stdout)
for lines in sys.argv[1:]:
    page.draw(lines)
"""


def test_a_page_is_drawn_over_wrapped_rows_too() -> None:
    wide, wider = "a" * 80, "b" * 161
    pages = [f"first\n{wide}\n{wider}", f"{wider}\n\nsecond", "third\nrow"]
    text = show(become_its_terminal, sys.executable, "-c", PAGES, *pages)
    assert text.count("\x1b[J") == 2 and "first" in text and "second" in text
    assert read_screen(f"before\n{text}", 80) == "before\nthird\nrow\n"


def test_a_terminal_sees_a_bar_that_is_drawn_over() -> None:
    text = show(become_its_terminal, sys.executable, "-c", SHOW)
    assert text.count("\r") == 101 and text.count("\n") == 2
    assert "tracing [####" in text and text.endswith("100 %  note   \ndone\n")


def test_the_imitation_of_a_terminal_gets_few_lines() -> None:
    # As ros2 launch makes it: with emulate_tty.
    text = show(lambda _: None, sys.executable, "-c", SHOW)
    assert "\r" not in text and text.count("\n") == 12
    assert "tracing  10 %  note\n" in text and text.endswith("tracing 100 %  note\ndone\n")


def test_a_pipe_gets_few_lines() -> None:
    text = subprocess.check_output([sys.executable, "-c", SHOW], text=True)
    assert text.count("\n") == 12 and "\r" not in text
