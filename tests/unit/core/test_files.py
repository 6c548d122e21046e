"""Files of the user: whatever is given, it is read within limits or refused in one line."""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaywalk.core.errors import DataError
from jaywalk.core.files import (
    csv_lines,
    gunzip,
    load_array,
    load_arrays,
    open_file,
    parse_arrays,
    read_bytes,
    read_text,
)
from jaywalk.core.text import printable, short_repr, shortened


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def lying_npy(shape: tuple[int, ...]) -> bytes:
    """A header that announces a shape, and sixteen bytes."""
    stream = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + b"\0" * 16


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(DataError, match="a pipe, a socket or a device"):
            open_file(path, "a route file")
    with pytest.raises(DataError, match="is a folder"):
        read_bytes(tmp_path, "a route file")
    with pytest.raises(DataError, match=r"No such file.*Give a route file"):
        read_bytes(tmp_path / "none", "a route file")
    with pytest.raises(DataError, match="Cannot read"):
        read_bytes(Path("nul\0name"), "a route file")


def test_sizes_are_limited(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 11)
    assert read_bytes(file, "a file", 11) == b"x" * 11
    with pytest.raises(DataError, match="more than 10 bytes"):
        read_bytes(file, "a file", 10)


def test_text_is_text(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes("a\r\nb\u00e9".encode())
    assert read_text(file, "a text") == "a\nb\u00e9"
    with csv_lines(file, "a table") as lines:
        assert lines.read() == "a\r\nb\u00e9"
    with pytest.raises(DataError, match="not ascii text"):
        read_text(file, "a text", encoding="ascii")


def test_gzip_is_unpacked_up_to_a_limit() -> None:
    import gzip

    packed = gzip.compress(b"\0" * 1_000_000)
    assert len(gunzip(packed, "it", 1_000_000)) == 1_000_000
    with pytest.raises(DataError, match="more than 999999 bytes"):
        gunzip(packed, "it", 999_999)
    with pytest.raises(DataError, match="cannot be read"):
        gunzip(packed[:50], "it")


def test_arrays_come_back_as_numpy_reads_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    arrays = {
        "floats": rng.normal(size=(3, 4, 2)),
        "fortran": np.asfortranarray(rng.normal(size=(5, 3)).astype(np.float32)),
        "none": np.zeros((0, 3)),
        "one": np.array(7),
        "text": np.array(["a", "long"]),
        "rows": np.zeros(2, [("a", "<i4"), ("b", "<f8", 3)]),
    }
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **arrays)
        found = load_arrays(tmp_path / "a.npz", "arrays")
        with np.load(tmp_path / "a.npz") as expected:
            assert set(found) == set(expected.files)
            for name, values in found.items():
                np.testing.assert_array_equal(values, expected[name])
                assert values.dtype == expected[name].dtype
                assert values.flags.writeable
    assert set(load_arrays(tmp_path / "a.npz", "arrays", wanted={"one"})) == {"one"}
    np.save(tmp_path / "b.npy", arrays["floats"])
    np.testing.assert_array_equal(load_array(tmp_path / "b.npy", "an array"), arrays["floats"])


@pytest.mark.parametrize("shape", [(10**15,), (3,), (2**40, 2**40), (-1, 5), (2**62, 4)], ids=str)
def test_a_header_that_announces_more_than_there_is_gets_no_memory(shape: tuple[int, ...]) -> None:
    with pytest.raises(DataError, match="holds no readable arrays"):
        parse_arrays(lying_npy(shape), "it", "an array")


def test_an_archive_that_unpacks_to_more_than_the_limit_is_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", npy(np.zeros(1_000_000)))
    assert len(stream.getvalue()) < 20_000
    with pytest.raises(DataError, match="unpacks to more than 1000000 bytes"):
        parse_arrays(stream.getvalue(), "it", "arrays", 1_000_000)


def test_python_objects_are_refused() -> None:
    stream = io.BytesIO()
    np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="Python objects"):
        parse_arrays(stream.getvalue(), "it", "an array")


_GOOD = (npy(np.arange(5.0)), npy(np.zeros((2, 3), np.int8)))


@given(st.sampled_from(_GOOD), st.integers(0, 200), st.integers(0, 255), st.integers(0, 200))
def test_damaged_arrays_raise_one_kind_of_error(good: bytes, at: int, byte: int, cut: int) -> None:
    data = bytearray(good)
    data[at % len(data)] = byte
    for damaged in (bytes(data), bytes(data[: len(data) - cut % len(data)])):
        with contextlib.suppress(DataError):
            parse_arrays(damaged, "it", "an array")


def test_strangers_text_drives_no_terminal() -> None:
    assert printable("plain [bold]text[/] \u00e9 \u4e2d") == "plain [bold]text[/] \u00e9 \u4e2d"
    assert printable("\x1b[2Jgone\r\x07\u202e") == "\\x1b[2Jgone\\x0d\\x07\\u202e"
    assert printable("a\n\tb") == "a\n\tb"
    assert printable("a\n\tb", layout=False) == "a\\x0a\\x09b"


def test_long_texts_are_cut() -> None:
    assert shortened("x" * 500) == "x" * 500
    cut = shortened("x" * 10_000_000)
    assert len(cut) == 500
    assert cut.endswith("... (10000000 characters)")
    assert len(short_repr("x" * 10_000_000)) < 120
    assert len(short_repr([["x" * 1000] * 1000] * 1000)) < 3000
