"""What several tests of the book share: its notebooks and pages, a copy of the repository, the built site."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from checks import files
from checks.browser import FLAGS, chromium
from playwright.sync_api import Browser, sync_playwright

from tools import repository

SLOW = {"site_folder", "browser", "working_copy"}  # fixtures that build, browse or copy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs no built book, no browser and no copy of the repository is marked `quick`."""
    for item in items:
        if Path(__file__).parent in item.path.parents and not SLOW & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.quick)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `notebook_path`, `book_notebook_path` or `page_path` runs for each of them."""
    found = {
        "notebook_path": files.notebooks,
        "book_notebook_path": files.book_notebooks,
        "page_path": files.pages,
    }
    for argument in set(found) & set(metafunc.fixturenames):
        metafunc.parametrize(argument, found[argument](), ids=files.name)


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book, built once with warnings as errors into a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    options = ["--path-output", str(folder), "--all", "-W", "-n", "--keep-going"]
    built = subprocess.run(
        [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", ".", *options],
        cwd=files.ROOT, capture_output=True, text=True,
    )  # fmt: skip
    if built.returncode:
        log = (built.stdout + built.stderr).splitlines()
        said = [line for line in log if "WARNING" in line or "ERROR" in line] or log[-40:]
        pytest.fail("the book does not build without warnings:\n" + "\n".join(said), pytrace=False)
    return folder / "_build" / "html"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium, or a skipped test."""
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def working_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working tree as a git repository of its own, uncommitted and untracked files included."""
    copy = tmp_path_factory.mktemp("copy") / repository.slug(files.ROOT).split("/")[1]
    for path in files.files():
        target = copy / path.relative_to(files.ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", "-C", str(copy)]
    subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], check=True)
    subprocess.run([*git, "add", "--all", "--force"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message=The working tree"], check=True)
    return copy
