"""What commands write to a terminal, and what a person then sees on it."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import struct
import subprocess
import termios
from collections.abc import Callable
from functools import partial


def show(
    prepare: Callable[[int], None],
    *command: str,
    is_enough: Callable[[str], bool] = lambda _: False,
) -> str:
    """What a process writes to a terminal of 80 columns.

    Args:
        prepare: What it does with the terminal before.
        command: What to run.
        is_enough: Whether it has written enough; it then gets a Ctrl-C.
    """
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        command,
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=partial(prepare, slave),
    )
    os.close(slave)
    output, is_told = b"", False
    try:
        while data := os.read(master, 4096):
            output += data
            if not is_told and is_enough(_decode(output)):
                is_told = True
                process.send_signal(signal.SIGINT)
    except OSError:
        # Nobody has the other end open any more.
        pass
    os.close(master)
    assert process.wait(60.0) == 0
    return _decode(output)


def _decode(output: bytes) -> str:
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


def become_its_terminal(slave: int) -> None:
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
