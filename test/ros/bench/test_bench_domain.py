"""Runs on one machine claim different domains, and give them back however they end."""

from __future__ import annotations

import subprocess
import sys

from bench.domain import claim_domain
from bench.processes import ROOT, die_with_parent

FIRST = 8
"""At which domain the claims of this test begin to look."""

CLAIM = """
import os, sys
# So that each looks at the same one first, as those of two users do now and then.
os.getpid = lambda: 7
from bench.domain import claim_domain
print(claim_domain(), flush=True)
sys.stdin.read()
"""


def begin() -> tuple[subprocess.Popen[str], int]:
    """Start a process that claims a domain; gives it and the domain."""
    process = subprocess.Popen(
        [sys.executable, "-c", CLAIM],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def test_two_claims_differ_and_a_killed_run_gives_its_own_back() -> None:
    (first, one), (second, two) = begin(), begin()
    try:
        assert len({one, two, claim_domain()}) == 3
        first.kill()
        first.wait()
        third, again = begin()
        third.communicate()
        # Its own, or one before it that another run on this machine has given back meanwhile.
        assert (again - FIRST) % 99 <= (one - FIRST) % 99
    finally:
        for process in (first, second):
            process.kill()
            process.communicate()
