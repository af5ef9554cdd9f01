"""The commands of ./dvrk."""

from __future__ import annotations

import difflib
import errno
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

from bootstrap.checks import run_checks
from bootstrap.children import run_command, take_stop_signals
from bootstrap.clone import Clone, check_python, detect_ros, has_package
from bootstrap.environment import ensure_venv
from bootstrap.interfaces import ensure_interfaces
from bootstrap.problems import Problem, explain_full_disk
from bootstrap.process_environ import make_environ
from bootstrap.side_folder import ensure_side_folder

_ROOT = Path(__file__).resolve().parent.parent
_EXECUTABLES = "dvrk_kinematics.ros.executables"

_HELP = """\
usage: ./dvrk COMMAND [ARGUMENT ...]

  demo [ARGUMENT ...]      a simulated arm traces the Block-O; flight plan, figures, bag, report
  up [ARGUMENT ...]        the nodes for one arm or the whole cart, as ros2 launch starts them
  arm ARM VERB [...]       look at one arm of those that are up, move it, stop it: status, enable,
                           home, go, jog, jaw, hold ...; --help lists them
  test [ARGUMENT ...]      lint, types and all tests, as CI runs them; --fast starts no processes;
                           with other arguments, pytest alone
  bench [NAME [...]]       the side-by-side figures: {benches}; all without a name
  record [ARGUMENT ...]    a bag of the standard topics; --help lists the arguments
  report BAG               a page with plots and figures of a recorded motion
  docs                     the documentation as a site in .dvrk/site
  python [ARGUMENT ...]    the environment's interpreter, with ROS 2 and this package
  help                     this text
  --version                the version of this clone

Where ROS 2 is sourced, it is used. Where it is not, the first start makes an environment with a
real ROS 2 inside the clone (.venv and .dvrk, 0.4 to 1 GB, a few minutes); later starts take a
moment."""


def main() -> int:
    """Run one command; problems are one sentence and exit code 1."""
    command, *arguments = sys.argv[1:] or ["help"]
    try:
        with take_stop_signals(_interrupt):
            return _find(command)(arguments)
    except Problem as problem:
        print(f"dvrk: {problem}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"dvrk: {_explain(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndvrk: interrupted; the next start continues from a safe point", file=sys.stderr)
        return 130


def _explain(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return explain_full_disk(_ROOT)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{error}; ./dvrk writes to its clone, so use one that belongs to you"
    return str(error)


def _find(command: str) -> Callable[[list[str]], int]:
    commands = {
        "demo": _demo,
        "up": _up,
        "arm": _arm,
        "test": _test,
        "bench": _bench,
        "record": _record,
        "report": _report,
        "docs": _docs,
        "python": _python,
        "help": _help,
        "-h": _help,
        "--help": _help,
        "--version": _version,
    }
    if command not in commands:
        names = [name for name in commands if not name.startswith("-")]
        near = difflib.get_close_matches(command, [*names, "--version"], n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise Problem(f"unknown command {command!r}; {hint}there are: {', '.join(names)}")
    return commands[command]


def _help(_: list[str]) -> int:
    print(_HELP.format(benches=", ".join(_benches())))
    return 0


def _version(_: list[str]) -> int:
    found = re.search(r"<version>(.+)</version>", (_ROOT / "package.xml").read_text("utf-8"))
    print(f"dvrk_kinematics {found[1] if found else 'of no version'}")
    return 0


def _python(arguments: list[str]) -> int:
    interpreter, environ = _prepare()
    _become([str(interpreter), *arguments], environ)


def _test(arguments: list[str]) -> int:
    interpreter, environ = _prepare("test", "oracles", "bags", "report", "docs")
    clone = Clone(_ROOT, detect_ros(os.environ))
    # A stock ROS 2 Jazzy brings numpy 1.26, which later interpreters cannot run.
    has_older = clone.uses_wheels and sys.version_info < (3, 13) and not arguments
    older = ensure_side_folder(clone, "numpy1") if has_older else None
    return run_checks(_ROOT, interpreter, environ, arguments, older)


def _bench(arguments: list[str]) -> int:
    known = _benches()
    names, rest = (arguments[:1], arguments[1:]) if arguments else (known, [])
    worst = 0
    for name in names:
        if name not in known:
            raise Problem(f"unknown benchmark {name!r}; there are: {', '.join(known)}")
        has_extra = (_ROOT / "requirements" / f"bench-{name}.txt").exists()
        interpreter, environ = _prepare(*([f"bench-{name}"] if has_extra else []))
        command = [str(interpreter), "-m", f"bench.{name}", *rest]
        worst = max(worst, run_command(command, _ROOT, environ))
    return worst


def _demo(arguments: list[str]) -> int:
    interpreter, environ = _prepare("bags", "report")
    environ.setdefault("DVRK_DEMOS", str(Clone(_ROOT, detect_ros(os.environ)).work / "demos"))
    _become([str(interpreter), "-m", _EXECUTABLES, "demo", *arguments], environ)


def _up(arguments: list[str]) -> int:
    # Only commands that record need more than the base.
    interpreter, environ = _prepare(*(["bags"] if _asks_to_record(arguments) else []))
    clone = Clone(_ROOT, detect_ros(os.environ))
    environ.setdefault("DVRK_BAGS", str(clone.work / "bags"))
    _become([str(interpreter), "-m", _EXECUTABLES, "up", *arguments], environ)


def _arm(arguments: list[str]) -> int:
    interpreter, environ = _prepare()
    _become([str(interpreter), "-m", _EXECUTABLES, "arm", *arguments], environ)


def _asks_to_record(arguments: list[str]) -> bool:
    return any(argument.startswith(("--record", "record:=")) for argument in arguments)


def _record(arguments: list[str]) -> int:
    clone = Clone(_ROOT, detect_ros(os.environ))
    needed = ("ros2bag", "rosbag2_storage_mcap")
    has_rosbag2 = not clone.uses_wheels and all(has_package(os.environ, p) for p in needed)
    interpreter, environ = _prepare(*([] if has_rosbag2 else ["bags"]))
    environ.setdefault("DVRK_BAGS", str(clone.work / "bags"))
    _become([str(interpreter), "-m", _EXECUTABLES, "record", *arguments], environ)


def _report(arguments: list[str]) -> int:
    interpreter, environ = _prepare("bags", "report")
    _become([str(interpreter), "-m", "dvrk_kinematics.cli.report", *arguments], environ)


def _docs(arguments: list[str]) -> int:
    if arguments:
        raise Problem(f"docs takes no arguments, got {arguments[0]!r}")
    interpreter, environ = _prepare("docs")
    # Otherwise Material advertises its successor on every start.
    environ["NO_MKDOCS_2_WARNING"] = "1"
    command = [str(interpreter), "-m", "mkdocs", "build", "--strict"]
    code = run_command(command, _ROOT, environ)
    if code == 0:
        site = Clone(_ROOT, detect_ros(os.environ)).work / "site"
        print(f"the documentation is in {site / 'index.html'}")
    return code


def _benches() -> list[str]:
    return sorted(file.parent.name for file in (_ROOT / "bench").glob("*/__main__.py"))


def _prepare(*extras: str) -> tuple[Path, dict[str, str]]:
    """The interpreter for a command and its environment, made if necessary."""
    clone = Clone(_ROOT, detect_ros(os.environ))
    check_python(clone.flavour, os.environ, sys.version_info[:2])
    interpreter = Path(sys.executable)
    if clone.uses_wheels or extras:
        interpreter = ensure_venv(clone, extras)
    prefixes = ensure_interfaces(clone)
    return interpreter, make_environ(clone, prefixes, os.environ)


def _become(command: list[str], environ: dict[str, str]) -> NoReturn:
    """Replace this process, so that signals and the exit code are the command's own."""
    sys.stdout.flush()
    os.execve(command[0], command, environ)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
