"""Without Chromium the browser tests are skipped and say why; in continuous integration they fail."""

import pytest
from checks import browser


def outcome_without_chromium():
    """How the search ends. Both endings are caught: a skip that got through would hide a missing failure."""
    with pytest.raises((pytest.skip.Exception, pytest.fail.Exception)) as raised:
        browser.chromium()
    return raised.type, str(raised.value)


def test_a_contributor_without_chromium_skips(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    outcome, message = outcome_without_chromium()
    assert outcome is pytest.skip.Exception
    assert "no Chromium on this machine: install it" in message


@pytest.mark.parametrize("value", ["true", "True", "1"])
def test_continuous_integration_without_chromium_fails(monkeypatch, value):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", value)
    outcome, message = outcome_without_chromium()
    assert outcome is pytest.fail.Exception
    assert "CI is set and there is no Chromium" in message


def test_chromium_is_found_on_the_path(monkeypatch, tmp_path):
    program = tmp_path / "chromium"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.chromium() == str(program)
