"""Long steps with visible progress, a log each, and nothing left running."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootstrap.children import end_group, take_stop_signals
from bootstrap.problems import Problem, explain_log

__all__ = ["run_step"]

_QUIET_SECONDS = 15.0
"""Without a terminal, a step reports this often that it is alive."""


def run_step(
    title: str,
    command: Sequence[str],
    log: Path,
    environ: Mapping[str, str],
    cwd: Path,
    lock: int,
) -> None:
    """Run one command, show its progress, and keep its output.

    The command gets its own process group, so that interrupting ./dvrk ends its children too.
    It inherits the lock: should ./dvrk be killed outright, no second one starts while the orphan
    still writes.

    Args:
        title: What the step does, as in "cannot {title}".
        command: The command and its arguments.
        log: File for its output.
        environ: Its environment.
        cwd: Its working folder.
        lock: Descriptor of the lock that is held.

    Raises:
        Problem: If it fails; the text names the log.
        KeyboardInterrupt: If ./dvrk was asked to stop; the command has ended by then.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    stops: list[int] = []
    # Collect signals, do not raise them: an exception between two lines could lose the child.
    with take_stop_signals(lambda number, _: stops.append(number)), log.open("w") as output:
        output.write(f"$ {' '.join(command)}\n")
        output.flush()
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environ),
                cwd=cwd,
                start_new_session=True,
                pass_fds=[lock],
            )
        except OSError as error:
            raise Problem(f"cannot {title}: {error}; remove .venv and start again") from error
        try:
            _watch(title, process, log, started, stops)
        finally:
            end_group(process)
    if stops:
        raise KeyboardInterrupt
    if process.returncode != 0:
        raise Problem(explain_log(title, log))
    _show(f"{title}: {time.monotonic() - started:.0f} s", final=True)


def _watch(
    title: str,
    process: subprocess.Popen[bytes],
    log: Path,
    started: float,
    stops: Sequence[int],
) -> None:
    """Show progress until the process ends or a signal asks to stop."""
    on_terminal = sys.stderr.isatty()
    if not on_terminal:
        _show(f"{title} ...", final=True)
    spoken = started
    while not stops:
        try:
            process.wait(0.2)
            return
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        if on_terminal:
            _show(f"{title}: {now - started:.0f} s  {_last_line(log)}", final=False)
        elif now - spoken >= _QUIET_SECONDS:
            spoken = now
            _show(f"{title}: {now - started:.0f} s so far", final=True)


def _last_line(log: Path) -> str:
    with log.open("rb") as source:
        source.seek(max(0, log.stat().st_size - 2000))
        lines = source.read().decode(errors="replace").replace("\r", "\n").splitlines()
    text = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


def _show(text: str, *, final: bool) -> None:
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        sys.stderr.write(f"\r\x1b[2K{f'dvrk: {text}'[: width - 1]}" + ("\n" if final else ""))
    else:
        sys.stderr.write(f"dvrk: {text}\n")
    sys.stderr.flush()
