"""Run the cells of one notebook in this process, and write down what each of them put out.

`run` copies this file out of the project and starts it in a folder of its own, so it imports nothing of the
project. The job comes on standard input, and its limits are set before the first cell runs. One line of JSON
per cell goes to the file that standard output was when the program started.
"""

import base64
import json
import os
import resource
import signal
import sys
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

MEGABYTE = 2**20


class Stopped(KeyboardInterrupt):
    """A cell went past a limit. Code that catches `Exception` does not catch this."""


class Outputs:
    """The outputs of the cell that is running, in their order and up to a limit."""

    def __init__(self, limit: int):
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        self.size = 0
        self.list: list[dict[str, Any]] = []

    def add(self, output: dict[str, Any], size: int) -> None:
        self.size += size
        if self.size > self.limit:
            raise Stopped(f"the cell put out more than {self.limit:,} characters")
        last = self.list[-1] if self.list else {}
        if output["output_type"] == "stream" == last.get("output_type") and output["name"] == last["name"]:
            last["text"] += output["text"]
        else:
            self.list.append(output)

    def error(self, name: str, value: str, traceback: list[str]) -> None:
        traceback = [line[: self.limit] for line in traceback][-50:]
        error = {"output_type": "error", "ename": name, "evalue": value[: self.limit], "traceback": traceback}
        self.list.append(error)


class Stream:
    """Stands for sys.stdout or sys.stderr."""

    encoding = "utf-8"

    def __init__(self, name: str, outputs: Outputs):
        self.name, self.outputs = name, outputs

    def write(self, text: str) -> int:
        if text:
            self.outputs.add({"output_type": "stream", "name": self.name, "text": text}, len(text))
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


class Publisher(DisplayPublisher):
    """Collects what a cell displays."""

    outputs: Outputs

    def publish(self, data: dict, metadata: dict | None = None, **other: Any) -> None:
        display = {"output_type": "display_data", "data": plain(data), "metadata": metadata or {}}
        self.outputs.add(display, sum(len(str(value)) for value in display["data"].values()))


class Hook(DisplayHook):
    """Collects a cell's last value."""

    outputs: Outputs

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
        result = {
            "output_type": "execute_result",
            "data": plain(format_dict),
            "metadata": md_dict or {},
            "execution_count": self.prompt_count,
        }
        self.outputs.add(result, sum(len(str(value)) for value in result["data"].values()))

    def finish_displayhook(self) -> None:
        self._is_active = False


class Shell(InteractiveShell):
    """IPython as a notebook uses it, with its outputs collected."""

    outputs: Outputs

    def _showtraceback(self, kind: type, value: BaseException, lines: list[str]) -> None:
        self.outputs.error(kind.__name__, str(value), lines)

    def enable_gui(self, gui: str | None = None) -> None:
        pass


def plain(data: dict) -> dict:
    """Pictures as text, as notebooks hold them."""
    return {k: base64.b64encode(v).decode() if isinstance(v, bytes) else v for k, v in data.items()}


def limit(limits: dict[str, Any]) -> None:
    """Limits that the system keeps. `tools.course.limits` watches the sums over all processes."""
    for what, most in {
        "RLIMIT_CPU": int(limits["seconds"]) + 1,
        "RLIMIT_DATA": limits["memory"] * MEGABYTE,
        "RLIMIT_FSIZE": limits["disk"] * MEGABYTE,
        "RLIMIT_NOFILE": 512,
        "RLIMIT_CORE": 0,
    }.items():
        resource.setrlimit(getattr(resource, what), (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that grows too large is an OSError, not the end


def stop_after(cpu: float, seconds: float) -> None:
    """Have the running cell stopped; once more every second, in case that it swallows that."""

    def handler(number: int, _: Any) -> None:
        if number == signal.SIGPROF:
            raise Stopped(f"the cell computed longer than {cpu:g} seconds")
        raise Stopped(f"the cell ran longer than {seconds:g} seconds")

    for name, timer, limit in (
        (signal.SIGPROF, signal.ITIMER_PROF, cpu),
        (signal.SIGALRM, signal.ITIMER_REAL, seconds),
    ):
        signal.signal(name, handler)
        signal.setitimer(timer, limit, 1)


def run(shell: Shell, source: str, cpu: float, seconds: float) -> str:
    """Run one cell; what stopped it, or an empty text."""
    outputs = shell.outputs
    outputs.clear()
    stop_after(cpu, seconds)
    failure: BaseException | None
    try:
        result = shell.run_cell(source, store_history=True)
        failure = result.error_before_exec or result.error_in_exec
    except BaseException as error:
        failure = error
    finally:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
    if failure and not any(output["output_type"] == "error" for output in outputs.list):
        outputs.error(type(failure).__name__, str(failure), [])
    return str(failure) if isinstance(failure, Stopped) else ""


def main() -> None:
    job = json.load(sys.stdin)
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    me = os.getpid()
    outputs = Outputs(job["limits"]["cell_output"])
    Publisher.outputs = Hook.outputs = Shell.outputs = outputs
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "NoColor"
    shell = Shell.instance(config=config, display_pub_class=Publisher, displayhook_class=Hook)
    limit(job["limits"])
    sys.stdout, sys.stderr = Stream("stdout", outputs), Stream("stderr", outputs)
    for index, source in enumerate(job["cells"]):
        stopped = run(shell, source, job["limits"]["cell_cpu"], job["limits"]["cell_seconds"])
        if os.getpid() != me:  # a cell has forked, and this is the copy
            os._exit(0)
        line = json.dumps({"index": index, "outputs": outputs.list, "stopped": stopped}, default=str)
        print(line, file=results, flush=True)


if __name__ == "__main__":
    main()
