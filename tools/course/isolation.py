"""The sandbox that a submission runs in: bubblewrap or unshare where they work, and otherwise none.

Inside there is no network, no process but the submission's own, and no file but these: its folder, which it
may write; the system's programs and libraries, Python's, and the copy of rnnlib, all read-only. Without a
sandbox only the limits hold: a submission runs with the rights of whoever grades, the network included, and
reads what that person reads. In either case no solution lies in the folder that it runs in.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

INSIDE = "/submission"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/passwd")
DEVICES = ("null", "zero", "full", "random", "urandom")

# Builds a root of read-only mounts, enters it, and gives up every right that would undo one. /proc is
# read-only too, because root without rights may still write some settings of the machine there.
ENTER = """
set -e
root=$1 folder=$2 shown=$3; shift 3
mount -t tmpfs -o mode=755 tmpfs "$root"
mkdir -p "$root/proc" "$root/dev/pts" "$root/dev/shm" "$root/tmp" "$root{inside}"
mount --bind "$folder" "$root{inside}"
mount --bind "$folder/tmp" "$root/tmp"
mount --bind "$folder/shm" "$root/dev/shm"
IFS=:
for path in $shown; do
    if [ -d "$path" ]; then mkdir -p "$root$path"
    else mkdir -p "$root$(dirname "$path")"; : > "$root$path"; fi
    mount --bind "$path" "$root$path"
    mount -o remount,bind,ro "$root$path"
done
unset IFS
for name in {devices}; do : > "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t proc -o ro,nosuid,nodev,noexec proc "$root/proc"
mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- env -C {inside} "$@"
""".format(inside=INSIDE, devices=" ".join(DEVICES))


@dataclass(frozen=True)
class Isolation:
    """A way to start a program; `command` is what goes before it, and `inside` where its folder then lies."""

    name: str
    command: Callable[[Path, Path], list[str]]
    inside: str | None = None

    def __str__(self) -> str:
        if self.inside:
            return (
                f"{self.name}: submissions had no network, saw the system's, Python's and rnnlib's files "
                "read-only and nothing else, and could write only into their own temporary folder"
            )
        return (
            "none (neither bwrap nor unshare works here): submissions ran under limits of time, memory and "
            "output, but with your rights, your network and every file that you can read or write"
        )


def writable(place: Path) -> Path:
    """A new folder for a submission, with what it may need for temporary files."""
    folder = place / "folder"
    for name in ("tmp", "shm"):
        (folder / name).mkdir(parents=True)
    return folder


def shown(library: Path) -> list[str]:
    """What a submission may read."""
    python = (sys.prefix, sys.base_prefix, sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    found: list[str] = []
    for path in (*SYSTEM, *SETTINGS, *python, str(library)):
        if Path(path).exists() and not any(Path(path).is_relative_to(other) for other in found):
            found.append(path)
    return found


def bwrap(folder: Path, library: Path) -> list[str]:
    options = [
        str(shutil.which("bwrap")),
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]
    options += ["--proc", "/proc", "--dev", "/dev", "--bind", str(folder), INSIDE]
    options += ["--bind", str(folder / "tmp"), "/tmp", "--bind", str(folder / "shm"), "/dev/shm"]
    for path in shown(library):
        options += ["--ro-bind", path, path]
    options += [word for path in ("/proc", "/dev", "/") for word in ("--remount-ro", path)]
    return [*options, "--chdir", INSIDE, "--"]


def unshare(folder: Path, library: Path) -> list[str]:
    options = ["--user", "--map-root-user", "--mount", "--net", "--ipc", "--uts"]
    options += ["--pid", "--fork", "--kill-child"]
    root = folder.parent / "root"
    root.mkdir(exist_ok=True)
    shell = ["sh", "-c", ENTER, "sh", str(root), str(folder), ":".join(shown(library))]
    return [str(shutil.which("unshare")), *options, "--", *shell]


SANDBOXES = (Isolation("bwrap", bwrap, INSIDE), Isolation("unshare", unshare, INSIDE))
NONE = Isolation("none", lambda folder, library: [])


def works(isolation: Isolation) -> bool:
    """Whether a sandbox starts Python here, and writes into the folder that it should."""
    if not shutil.which(isolation.name):
        return False
    with tempfile.TemporaryDirectory() as place:
        folder, library = writable(Path(place)), Path(place, "library")
        library.mkdir()
        program = [sys.executable, "-c", "import ctypes; open('it-ran', 'w')"]
        command = [*isolation.command(folder, library), *program]
        done = subprocess.run(command, capture_output=True, cwd=folder, env={"PATH": os.environ["PATH"]})
        return done.returncode == 0 and (folder / "it-ran").exists()


@cache
def find() -> Isolation:
    """The first sandbox that works on this machine."""
    return next((sandbox for sandbox in SANDBOXES if works(sandbox)), NONE)
