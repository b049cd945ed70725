"""Without Chromium the browser tests are skipped and say why; in continuous integration they fail."""

import pytest
from checks import browser


def test_a_contributor_without_chromium_skips(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no Chromium on this machine: install it"):
        browser.chromium()


@pytest.mark.parametrize("value", ["true", "True", "1"])
def test_continuous_integration_without_chromium_fails(monkeypatch, value):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", value)
    with pytest.raises(pytest.fail.Exception, match="CI is set and there is no Chromium"):
        browser.chromium()


def test_chromium_is_found_on_the_path(monkeypatch, tmp_path):
    program = tmp_path / "chromium"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.chromium() == str(program)
