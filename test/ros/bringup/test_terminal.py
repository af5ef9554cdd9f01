"""Lines and bars: what a terminal sees, and what a pipe or the imitation of a terminal gets."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from functools import partial

SHOW = """
import sys
from dvrk_kinematics.ros.terminal import Progress, Terminal
terminal = Terminal(sys.stdout)
progress = Progress(terminal, "tracing")
for step in range(101):
    progress.show(0.01 * step, "note")
terminal.say("done")
"""


PAGES = """
import sys
from dvrk_kinematics.ros.terminal import Page
page = Page(sys.stdout)
for lines in sys.argv[1:]:
    page.draw(lines)
"""


def show(prepare: Callable[[int], None], script: str = SHOW, *arguments: str) -> str:
    """What a process writes to a pseudo-terminal, with what it does with that before."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=partial(prepare, slave),
    )
    os.close(slave)
    output = b""
    try:
        while data := os.read(master, 4096):
            output += data
    except OSError:
        # Nobody has the other end open any more.
        pass
    os.close(master)
    assert process.wait(60.0) == 0
    return output.decode().replace("\r\n", "\n")


def read_screen(text: str, columns: int) -> str:
    """What stands on a screen so wide after a text was written to it."""
    rows = [""]
    while text:
        up = re.match(r"\x1b\[(\d+)A\x1b\[J", text)
        if up:
            del rows[-1 - int(up[1]) :]
            rows.append("")
        elif text[0] == "\n":
            rows.append("")
        elif len(rows[-1]) == columns:
            rows.append(text[0])
        else:
            rows[-1] += text[0]
        text = text[up.end() if up else 1 :]
    return "\n".join(rows)


def test_a_page_is_drawn_over_wrapped_rows_too() -> None:
    wide, wider = "a" * 80, "b" * 161
    pages = [f"first\n{wide}\n{wider}", f"{wider}\n\nsecond", "third\nrow"]
    text = show(become_its_terminal, PAGES, *pages)
    assert text.count("\x1b[J") == 2 and "first" in text and "second" in text
    assert read_screen(f"before\n{text}", 80) == "before\nthird\nrow\n"


def become_its_terminal(slave: int) -> None:
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)


def test_a_terminal_sees_a_bar_that_is_drawn_over() -> None:
    text = show(become_its_terminal)
    assert text.count("\r") == 101 and text.count("\n") == 2
    assert "tracing [####" in text and text.endswith("100 %  note   \ndone\n")


def test_the_imitation_of_a_terminal_gets_few_lines() -> None:
    # As ros2 launch makes it: with emulate_tty.
    text = show(lambda _: None)
    assert "\r" not in text and text.count("\n") == 12
    assert "tracing  10 %  note\n" in text and text.endswith("tracing 100 %  note\ndone\n")


def test_a_pipe_gets_few_lines() -> None:
    text = subprocess.check_output([sys.executable, "-c", SHOW], text=True)
    assert text.count("\n") == 12 and "\r" not in text
