"""Reading the files of this package, wherever it is installed."""

from __future__ import annotations

import ast
import csv
import gzip
from collections.abc import Iterator
from importlib.resources import files
from io import BytesIO
from zipfile import ZipFile

import torch
from torch import Tensor

DTYPES = {"<f4": torch.float32, "<i8": torch.int64}


def content(name: str) -> bytes:
    """A file as it is stored."""
    return files(__package__).joinpath("files", name).read_bytes()


def rows(name: str) -> Iterator[dict[str, str]]:
    """Rows of a compressed CSV file."""
    yield from csv.DictReader(gzip.decompress(content(name)).decode("ascii").splitlines())


def arrays(name: str) -> dict[str, Tensor]:
    """Arrays of a NumPy archive, read without NumPy.

    >>> arrays("japanese_vowels.npz")["x_train"].shape
    torch.Size([270, 29, 12])
    """
    with ZipFile(BytesIO(content(name))) as archive:
        return {member.removesuffix(".npy"): _array(archive.read(member)) for member in archive.namelist()}


def _array(npy: bytes) -> Tensor:
    """Format 1.0: magic and version, 8 bytes; the length of the header, 2; the header, a dict; the values."""
    start = 10 + int.from_bytes(npy[8:10], "little")
    header = ast.literal_eval(npy[10:start].decode("ascii"))
    values = torch.frombuffer(bytearray(npy[start:]), dtype=DTYPES[header["descr"]])
    return values.reshape(header["shape"])
