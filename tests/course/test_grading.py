"""A whole class is graded at once: sound, broken and hostile submissions, under limits and in the sandbox."""

import csv
import sys

import pytest
from samples_course import answered, cell, data

from tools.course import grade as grading
from tools.course import isolation, report
from tools.course.limits import Limits
from tools.course.run import library, run

LIMITS = Limits(cell_cpu=3, cell_output=10_000, seconds=120, memory=1500, disk=5, processes=15)
RIGHT = "def answer():\n    return 6 * 7"
SANDBOX = isolation.find()
sandboxed = pytest.mark.skipif(SANDBOX is isolation.NONE, reason="neither bwrap nor unshare works here")

# For each student: the answer, the points of 2, and what has to be remarked.
STUDENTS = {
    "right": (RIGHT, 2, ""),
    "wrong": ("def answer():\n    return 41", 0, ""),
    "no syntax": ("def answer(:\n    return 42", 0, "syntax error in cell 'answer', line 1"),
    "loop": (f"{RIGHT}\nwhile True: pass", 2, "answer: the cell computed longer than 3 seconds"),
    "loop in the answer": ("def answer():\n    while True: pass", 0, "test-answer: the cell computed longer"),
    "swallows": (
        f"{RIGHT}\ndone = False\nwhile not done:\n    try:\n        while True: pass\n"
        "    except Exception: pass",
        2,
        "answer: the cell computed longer than 3 seconds",
    ),
    "hog": (f"{RIGHT}\nx = [bytearray(10**9) for _ in range(9)]", 2, "answer: the cell ran out of memory"),
    "flood": (f"{RIGHT}\nwhile True: print('x' * 99)", 2, "answer: the cell put out more than 10,000"),
    "one huge line": (f"{RIGHT}\nprint('x' * 10**7)", 2, "answer: the cell put out more than 10,000"),
    "fills the disk": (
        f"{RIGHT}\nfor i in range(20): open(f'{{i}}', 'wb').write(bytes(10**6))\ntime.sleep(9)",
        0,
        "the notebook wrote more than 5 MB",
    ),
    "forks": (
        f"{RIGHT}\nimport subprocess\nfor _ in range(30): subprocess.Popen(['sleep', '60'])\ntime.sleep(9)",
        0,
        "the notebook started more than 15 processes",
    ),
    "leaves": (f"{RIGHT}\nimport os\nos._exit(0)", 0, "the notebook ended by itself (exit status 0)"),
    "exits politely": ("def answer():\n    raise SystemExit", 0, ""),
    "warns": ("import warnings\ndef answer():\n    warnings.warn('so')\n    return 42", 2, ""),
}
ASLEEP = "import time\ntime.sleep(60)"
SWITCH_OFF = (
    "import ast\nclass Nothing(ast.NodeTransformer):\n    def visit_Assert(self, node): return ast.Pass()\n"
    "    visit_Raise = visit_Assert\nget_ipython().ast_transformers.append(Nothing())\n"
)


def hand_in(folder, student, content, name="7-answers"):
    (folder / student).mkdir(parents=True, exist_ok=True)
    (folder / student / f"{name}.ipynb").write_bytes(content)


@pytest.fixture(scope="module")
def results(sample, release, tmp_path_factory):
    """The class, graded."""
    folder = tmp_path_factory.mktemp("submissions")
    for student, (source, _, _) in STUDENTS.items():
        hand_in(folder, student, data(answered(release, answer=source)))
    hand_in(folder, "writes", data(answered(release, why="I think so. <script>alert(1)</script>")))
    hand_in(folder, "switches off", data(answered(release, answer=SWITCH_OFF)))
    hand_in(folder, "text", b"no notebook")
    (folder / "nothing").mkdir()
    found, aside = grading.grade(folder, [sample], LIMITS)
    assert aside == []
    return {result.student: result for result in found}


@pytest.mark.parametrize("student", STUDENTS)
def test_a_submission_is_graded_and_its_excess_is_named(results, student):
    _, points, remark = STUDENTS[student]
    result = results[student]
    assert result.status == "graded", result.remarks
    assert result.total == points, result.remarks
    assert any(remark in text for text in result.remarks) if remark else result.remarks == []


def test_nothing_is_graded_where_errors_were_switched_off(results):
    result = results["switches off"]
    assert result.status == "refused" and result.total is None
    assert "errors no longer showed" in result.remarks[0]


def test_answers_in_words_wait_for_a_reader(results):
    wrote, silent = results["writes"], results["right"]
    assert (wrote.total, wrote.by_hand, wrote.max) == (0, 3, 5)
    assert (silent.total, silent.by_hand, silent.max) == (2, 0, 5)


def test_the_table_of_grades(results, tmp_path):
    report.write(list(results.values()), tmp_path)
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert rows.keys() == results.keys()
    assert rows["writes"]["tasks"] == "test-answer 0/2; why by hand/3"
    assert [rows["writes"][name] for name in ("status", "total", "by_hand", "max")] == [
        "graded",
        "0",
        "3",
        "5",
    ]
    assert [rows["text"][name] for name in ("status", "total", "max")] == ["refused", "", "5"]
    assert rows["nothing"]["status"] == "missing"


def test_everybody_gets_feedback_that_runs_no_script(results, tmp_path):
    report.write(list(results.values()), tmp_path)
    for student in results:
        page = (tmp_path / "feedback" / student / "7-answers.html").read_text(encoding="utf-8")
        policy = page.partition("<head>")[2][:200]
        assert "default-src 'none'" in policy and "script-src" not in policy
    assert "assert answer() == 42" in (tmp_path / "feedback" / "wrong" / "7-answers.html").read_text()
    assert "not graded" in (tmp_path / "feedback" / "text" / "7-answers.html").read_text()


def outputs(cells, isolated):
    with library() as place:
        executed = run(cells, LIMITS, isolated, place)
    return ["".join(o.get("text", "") or o.get("evalue", "") for o in cell) for cell in executed.outputs]


def test_whoever_sleeps_is_woken_by_the_clock():
    """Waiting takes no computing time, so two limits count seconds on the clock: of a cell, and of all."""
    with library() as place:
        cell_limit = run([ASLEEP, "print('later')"], Limits(cell_seconds=2), SANDBOX, place)
        in_all = run([ASLEEP, "print('later')"], Limits(seconds=2), SANDBOX, place)
    assert cell_limit.stopped == {0: "the cell ran longer than 2 seconds"} and not cell_limit.ended
    assert cell_limit.outputs[1][0].text == "later\n"
    assert in_all.ended == "ran longer than 2 seconds" and in_all.outputs[1][0].ename == "NotRun"


@sandboxed
@pytest.mark.parametrize("sandbox", isolation.SANDBOXES, ids=lambda sandbox: sandbox.name)
def test_the_sandbox(sandbox, sample, tmp_path):
    if not isolation.works(sandbox):
        pytest.skip(f"{sandbox.name} does not work here")
    outside = tmp_path / "outside.txt"
    outside.write_text("kept")
    said = outputs(
        [
            f"open({str(outside)!r}, 'w')",
            f"open({str(sample.source)!r})",
            "import rnnlib; open(rnnlib.__file__, 'a')",
            "import socket; socket.create_connection(('127.0.0.1', 9), 2)",
            "import os; print(sorted(os.listdir()), sum(map(str.isdigit, os.listdir('/proc'))) < 9)",
            "open('mine', 'w').write('x'); print(open('mine').read())",
            "os.close(os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY))",
        ],
        sandbox,
    )
    assert outside.read_text() == "kept"
    assert "No such file" in said[0] or "Read-only" in said[0]
    assert "No such file" in said[1]
    assert "Read-only file system" in said[2]
    assert "unreachable" in said[3] or "refused" in said[3]
    assert said[4] == "['shm', 'tmp'] True\n" and said[5] == "x\n"
    assert "Read-only" in said[6] or "Permission denied" in said[6]
    assert "no network" in str(sandbox) and sandbox.name in str(sandbox)


def test_without_a_sandbox_no_solution_lies_about_and_the_report_says_so(tmp_path):
    search = (
        "from pathlib import Path\nhere = Path.cwd()\n"
        "found = [p for top in (here.parent, Path(__import__('rnnlib').__file__).parents[1])"
        " for p in top.rglob('*') if p.is_file() and b'BEGIN ' b'SOLUTION' in p.read_bytes()]\nprint(found)"
    )
    assert outputs([search], isolation.NONE) == ["[]\n"]
    said = report.summary([], [], isolation.NONE, tmp_path)
    assert "Isolation: none" in said and "your rights, your network and every file" in said


def test_a_sandbox_that_does_not_start_is_not_used(monkeypatch):
    broken = isolation.Isolation("sh", lambda folder, library: ["false"], isolation.INSIDE)
    absent = isolation.Isolation("no-such-program", lambda folder, library: [], isolation.INSIDE)
    assert not isolation.works(broken) and not isolation.works(absent)
    monkeypatch.setattr(isolation, "SANDBOXES", (broken, absent))
    assert isolation.find.__wrapped__() is isolation.NONE


def test_the_command(monkeypatch, capsys, sample, release, tmp_path):
    hand_in(tmp_path / "from", "ana", data(answered(release, answer=RIGHT)))
    monkeypatch.setattr(grading, "assignments", lambda only: [sample])
    monkeypatch.setattr(sys, "argv", ["grade", str(tmp_path / "from"), str(tmp_path / "to")])
    grading.main()
    said = capsys.readouterr().out
    assert f"Isolation: {SANDBOX}." in said and "1 graded" in said
    assert "ana,7-answers,graded,2,0,5," in (tmp_path / "to" / "grades.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such", "to"], "FROM='no-such': expected a folder"),
        ([".", "to"], "TO='to': expected a folder outside"),
    ],
)
def test_bad_folders_are_refused(monkeypatch, capsys, arguments, message):
    monkeypatch.setattr(sys, "argv", ["grade", *arguments])
    with pytest.raises(SystemExit):
        grading.main()
    assert message in capsys.readouterr().err


def test_a_submission_that_breaks_the_grader_stops_no_other(monkeypatch, sample, release, tmp_path):
    for student in ("ana", "bob"):
        hand_in(tmp_path, student, data(answered(release, answer=RIGHT)))
    score = grading._score

    def fails_once(course, submission, *others):
        if submission.student == "ana":
            raise OSError("disk on fire")
        return score(course, submission, *others)

    monkeypatch.setattr(grading, "_score", fails_once)
    found, _ = grading.grade(tmp_path, [sample], LIMITS, feedback=False)
    assert [(r.student, r.status, r.total) for r in found] == [("ana", "refused", None), ("bob", "graded", 2)]
    assert found[0].remarks == ["could not be graded: disk on fire"]
    assert cell(release, "answer")
