"""`rnnlib.data`: the files are the documented ones, parts are disjoint and fixed, the wheel has them all."""

import hashlib
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch

from rnnlib import data
from rnnlib.data import images, lexicon, speech, text

ROOT = Path(__file__).parents[1]
FOLDER = Path(data.__file__).parent
README = (FOLDER / "README.md").read_text()
SUMS = re.findall(r"^\| `(\S+)` \| `(\w+)` \| ([\d,]+) \| `(\w{64})` \|$", README, re.MULTILINE)
LICENCES = set(re.findall(r"`(LICENSE\S+)`", README))


# --- Files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "function", "size", "digest"), SUMS)
def test_files_are_those_of_the_readme(name, function, size, digest):
    content = (FOLDER / "files" / name).read_bytes()
    assert len(content) == int(size.replace(",", ""))
    assert hashlib.sha256(content).hexdigest() == digest
    assert callable(getattr(data, function))


def test_the_readme_names_every_file():
    assert len(SUMS) == 4 and len(LICENCES) == 4
    assert {path.name for path in (FOLDER / "files").iterdir()} == {name for name, *_ in SUMS} | LICENCES


def test_the_wheel_carries_data_and_licences(tmp_path):
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "rnnlib", source / "rnnlib", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    program = f"from setuptools.build_meta import build_wheel; build_wheel({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    assert {f"rnnlib/data/files/{name}" for name in {name for name, *_ in SUMS} | LICENCES} <= packed
    assert "rnnlib/data/README.md" in packed


def test_nothing_is_downloaded(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "socket", refuse)
    for _, function, *_ in SUMS:
        getattr(data, function)()


def test_arrays_are_read_as_numpy_reads_them():
    numpy = pytest.importorskip("numpy")
    from rnnlib.data.reading import arrays

    read = arrays("japanese_vowels.npz")
    with numpy.load(FOLDER / "files" / "japanese_vowels.npz") as stored:
        assert set(read) == set(stored)
        assert all(numpy.array_equal(read[name].numpy(), stored[name]) for name in stored)
        assert all(str(read[name].dtype) == f"torch.{stored[name].dtype}" for name in stored)


# --- Parts ------------------------------------------------------------------------------------------------


def parts(splits):
    return splits.train, splits.valid, splits.test


def rows(*columns):
    """Every example as one tuple of numbers."""
    return list(map(tuple, torch.cat([c.flatten(1).double() for c in columns], 1).tolist()))


def digest(*tensors):
    return hashlib.sha256(b"".join(t.numpy().tobytes() for t in tensors)).hexdigest()[:12]


def assert_disjoint(examples):
    train, valid, test = map(set, examples)
    assert not train & valid and not train & test and not valid & test


def test_digits():
    splits = images.digits()
    assert [len(part.y) for part in parts(splits)] == [1097, 300, 400]
    assert_disjoint([rows(part.x) for part in parts(splits)])
    y = torch.cat([part.y for part in parts(splits)])
    assert y.bincount().tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    for part in parts(splits):
        assert part.x.dtype == torch.float32 and part.x.min() == 0 and part.x.max() == 1
        assert part.x.shape == (len(part.y), 64)
        assert len(part.y.unique()) == 10
    assert digest(splits.train.y, splits.valid.y, splits.test.y) == "0a708bf25364"


def test_a_zero_is_empty_in_its_middle_and_a_one_is_not():
    """Pictures and labels belong together, and rows of pixels are rows."""
    x, y = images.digits().train
    middle = x.reshape(-1, 8, 8)[:, 3:5, 3:5].mean((1, 2))
    assert middle[y == 0].mean() < 0.15 and middle[y == 1].mean() > 0.8


def test_japanese_vowels():
    splits = speech.japanese_vowels()
    assert [len(part.y) for part in parts(splits)] == [216, 54, 370]
    assert_disjoint([rows(part.x) for part in parts(splits)])
    assert splits.train.y.bincount().tolist() == [24] * 9
    assert splits.test.y.bincount().tolist() == [31, 35, 88, 44, 29, 24, 40, 50, 29]
    for part in parts(splits):
        steps = torch.arange(part.x.shape[1])
        beyond = steps >= part.lengths[:, None]
        assert not part.x[beyond].any()
        assert part.x[~beyond].any(1).all()
    assert (splits.train.lengths.min(), splits.test.lengths.max()) == (7, 29)
    assert digest(splits.valid.lengths) == "cf0f514240c3"


def test_shakespeare():
    tragedies = text.shakespeare()
    train, valid, test = parts(tragedies.splits)
    assert len(tragedies.characters) == 74
    assert len(train) + len(valid) + len(test) == 992_844 - 6 + 3 * 6  # each part separates its own pieces
    whole = (FOLDER / "files" / "shakespeare_tragedies.txt").read_text().split("\f")
    pieces = [tragedies.decode(part).split("\f") for part in (train, valid, test)]
    assert ["".join(play) for play in zip(*pieces, strict=True)] == whole
    for play, *split in zip(whole, *pieces, strict=True):
        shares = [len(piece) / len(play) for piece in split]
        assert shares == pytest.approx([0.9, 0.05, 0.05], abs=1e-4)


def test_pronunciations():
    words = lexicon.pronunciations()
    assert [len(part.letters) for part in parts(words.splits)] == [21_997, 1_257, 2_549]
    assert_disjoint([rows(part.letters) for part in parts(words.splits)])
    assert "".join(words.letters) == "abcdefghijklmnopqrstuvwxyz" and words.letters[0] == ""
    assert len(words.phones) == 40 and words.phones[0] == ""
    assert sum(int((part.phones > 0).sum()) for part in parts(words.splits)) == 139_395
    for part in parts(words.splits):
        for codes, shortest in ((part.letters, 3), (part.phones, 1)):
            lengths = (codes > 0).sum(1)
            assert lengths.min() >= shortest
            assert torch.equal(
                codes > 0, torch.arange(codes.shape[1]) < lengths[:, None]
            )  # zeros only at the end


def test_words_are_in_the_part_that_their_hash_says():
    words = lexicon.pronunciations()
    for part, remainders in zip(parts(words.splits), (range(3, 20), [2], [0, 1]), strict=True):
        for codes in part.letters[::50]:
            word = "".join(words.letters[code] for code in codes)
            assert int(hashlib.sha256(word.encode()).hexdigest(), 16) % 20 in remainders


@pytest.mark.parametrize("load", [images.digits, speech.japanese_vowels])
def test_every_call_gives_the_same_parts(load):
    before = torch.get_rng_state()
    first = load()
    torch.rand(3)
    again = load()
    for one, other in zip(parts(first), parts(again), strict=True):
        assert all(a.equal(b) for a, b in zip(one, other, strict=True))
    torch.set_rng_state(before)
    load()
    assert torch.get_rng_state().equal(before)
