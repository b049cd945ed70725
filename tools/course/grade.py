"""Grade a folder of submissions: make grade FROM=submissions TO=grades.

`collect` says which submissions are accepted, `checks` what is refused, `isolation` what is and is not kept
apart while students' code runs, and `report` what the grades mean.

One thing no sandbox changes: the tests of an assignment, hidden ones included, run in the same Python as the
student's code, as nbgrader has it. Code that goes looking for a test can read it, and code that is written to
deceive the grader can. A final test that has to fail notices when errors were switched off altogether.
"""

import argparse
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
from nbformat import NotebookNode

from . import report
from .checks import Checked, check
from .collect import Submission, collect
from .gradebook import Course, code_cells
from .isolation import Isolation, find
from .limits import Limits
from .report import Result
from .run import Executed, library, run
from .table import Assignment, assignments, grading

TAMPERED = "errors no longer showed when its cells had run, so passing tests mean nothing; read it by hand"


def grade(
    folder: Path,
    listed: list[Assignment],
    limits: Limits = Limits(),  # noqa: B008
    isolation: Isolation | None = None,
    feedback: bool = True,
) -> tuple[list[Result], list[str]]:
    """Grade every submission of a folder; the results, and what was left aside."""
    with tempfile.TemporaryDirectory(prefix="course-") as place:
        course = Course(Path(place))
        releases = {a.name: course.add(a.name, a.source) for a in listed}
        cells = {
            name: {i for c in nb.cells if (i := grading(c).get("grade_id"))} for name, nb in releases.items()
        }
        submissions, aside = collect(folder, cells)
        checked = [
            Checked(problems=s.problems) if s.problems else check(s.data, s.assignment, releases)
            for s in submissions
        ]
        # Names of folders may hold anything; nbgrader gets numbers.
        sound = {
            f"s{number}": (submission, found)
            for number, (submission, found) in enumerate(zip(submissions, checked, strict=True))
            if not found.problems
        }
        ready = {
            student: course.restored(submission.assignment, student, found.notebook)
            for student, (submission, found) in sound.items()
        }
        executed = _execute(ready, limits, isolation or find())
        results = []
        for number, (submission, found) in enumerate(zip(submissions, checked, strict=True)):
            student, release = f"s{number}", releases[submission.assignment]
            result = report.refused(submission, found.problems, release)
            if student in sound:
                try:
                    result = _score(course, submission, found, student, executed[student], release, feedback)
                except Exception as error:  # one broken submission never stops the others
                    result = report.refused(submission, [f"could not be graded: {error}"], release)
            results.append(result)
    return results, aside


def _execute(ready: dict[str, NotebookNode], limits: Limits, isolation: Isolation) -> dict[str, Executed]:
    """Run all submissions, as many at a time as there are cores."""
    with library() as place, ThreadPoolExecutor(psutil.cpu_count() or 1) as pool:
        sources = {student: [cell.source for cell in code_cells(nb)] for student, nb in ready.items()}
        jobs = {s: pool.submit(run, cells, limits, isolation, place) for s, cells in sources.items()}
        return {student: job.result() for student, job in jobs.items()}


def _score(
    course: Course,
    submission: Submission,
    found: Checked,
    student: str,
    executed: Executed,
    release: NotebookNode,
    feedback: bool,
) -> Result:
    if executed.tampered:
        return report.refused(submission, [TAMPERED], release)
    assert found.notebook is not None
    cells = code_cells(found.notebook)
    for cell, outputs in zip(cells, executed.outputs, strict=True):
        if grading(cell).get("grade"):  # nbgrader gives no points where a warning was printed
            for output in outputs:
                output.update({"name": "stdout"} if output.output_type == "stream" else {})
    scores = course.grade(submission.assignment, student, found.notebook, executed.outputs)
    remarks = [*found.remarks, *_stopped(cells, executed)]
    page = course.feedback(submission.assignment, student) if feedback else ""
    return Result(submission.student, submission.assignment, "graded", scores, remarks, page)


def _stopped(cells: list[NotebookNode], executed: Executed) -> Iterator[str]:
    for index, why in executed.stopped.items():
        yield f"{grading(cells[index]).get('grade_id') or f'code cell {index + 1}'}: {why}"
    if executed.ended:
        yield f"the notebook {executed.ended}"


def main() -> None:
    defaults = Limits()
    parser = argparse.ArgumentParser(prog="make grade", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FROM", help="folder with a folder or zip per student")
    parser.add_argument("to", type=Path, metavar="TO", help="folder for grades.csv and the feedback")
    parser.add_argument("--only", default="", help="one assignment")
    for name, what in {
        "cell_cpu": "seconds that a cell may compute",
        "seconds": "seconds that a notebook may take",
        "memory": "MB of memory",
    }.items():
        option, default = f"--{name.replace('_', '-')}", getattr(defaults, name)
        parser.add_argument(option, type=int, default=default, help=f"{what} (default: {default})")
    given = parser.parse_args()
    if not given.folder.is_dir():
        parser.error(f"FROM={str(given.folder)!r}: expected a folder of submissions")
    if given.to.resolve().is_relative_to(given.folder.resolve()):
        parser.error(f"TO={str(given.to)!r}: expected a folder outside of FROM={str(given.folder)!r}")
    limits = Limits(cell_cpu=given.cell_cpu, seconds=given.seconds, memory=given.memory)
    isolation = find()
    results, aside = grade(given.folder, assignments(given.only), limits, isolation)
    report.write(results, given.to)
    print(report.summary(results, aside, isolation, given.to))


if __name__ == "__main__":
    main()
