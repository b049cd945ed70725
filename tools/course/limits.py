"""What one submission may use, and how it is stopped when it takes more."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

MEGABYTE = 2**20
PAUSE = 0.1


@dataclass(frozen=True)
class Limits:
    """Limits of one submission: the first three per cell, the others in all."""

    cell_cpu: float = 60  # seconds of computing, which do not pass faster on a busy machine
    cell_seconds: float = 150  # seconds on the clock
    cell_output: int = 200_000  # characters
    seconds: float = 600
    memory: int = 4096  # megabytes
    disk: int = 100  # megabytes, of one file and of all together
    processes: int = 50


def watch(process: subprocess.Popen, folder: Path, limits: Limits) -> str:
    """Wait for a process and all that it started; why it had to be stopped, or an empty text."""
    end = time.monotonic() + limits.seconds
    try:
        while process.poll() is None:
            if reason := _excess(process, folder, limits, end):
                return reason
            time.sleep(PAUSE)
        return ""
    finally:
        stop(process)


def _excess(process: subprocess.Popen, folder: Path, limits: Limits, end: float) -> str:
    if time.monotonic() > end:
        return f"ran longer than {limits.seconds:g} seconds"
    family = _family(process.pid)
    if len(family) > limits.processes:
        return f"started more than {limits.processes} processes"
    if sum(map(_memory, family)) > limits.memory * MEGABYTE:
        return f"took more than {limits.memory} MB of memory"
    if _size(folder) > limits.disk * MEGABYTE:
        return f"wrote more than {limits.disk} MB"
    return ""


def stop(process: subprocess.Popen) -> None:
    """End a process, its session and its descendants, without giving them a say."""
    family = _family(process.pid)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.kill()
    process.wait()


def _family(pid: int) -> list[psutil.Process]:
    try:
        head = psutil.Process(pid)
        return [head, *head.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _memory(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def _size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total
