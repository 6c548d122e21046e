"""Records sent as bytes arrive whole and stay in their place."""

import io
import tarfile

import pytest
from record_scenes import write_episode

import jaywalk.record
from jaywalk.core.errors import DataError
from jaywalk.record import SharedFiles
from jaywalk.runner._cluster import pack, unpack


@pytest.fixture
def parcel(tmp_path):
    town = SharedFiles(tmp_path / "far").add(b"<OpenDRIVE/>", ".xodr")
    write_episode(tmp_path / "far/episodes/one", ticks=5, files={"opendrive": town})
    return pack(tmp_path / "far", "one")


def test_a_record_arrives_with_its_shared_files(tmp_path, parcel):
    folder = unpack(parcel, tmp_path / "near", "one")
    assert folder == tmp_path / "near/episodes/one"
    there, here = (
        jaywalk.record.record_hash(tmp_path / k / "episodes/one") for k in ("far", "near")
    )
    assert here == there
    assert jaywalk.record.open(folder).shared_file("opendrive").read_bytes() == b"<OpenDRIVE/>"
    assert [path.name for path in folder.parent.iterdir()] == ["one"]


def tar_of(*entries):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, kind, content in entries:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = kind, len(content), "/etc/passwd"
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../evil", tarfile.REGTYPE),
        ("record/../../evil", tarfile.REGTYPE),
        ("/tmp/evil", tarfile.REGTYPE),
        ("record/..", tarfile.REGTYPE),
        ("files/a/b", tarfile.REGTYPE),
        ("record/link", tarfile.SYMTYPE),
        ("record/link", tarfile.LNKTYPE),
        ("record", tarfile.DIRTYPE),
    ],
)
def test_nothing_else_is_let_in(tmp_path, name, kind):
    with pytest.raises(DataError, match="not part of a record"):
        unpack(tar_of((name, kind, b"")), tmp_path / "near", "one")
    assert list((tmp_path / "near/episodes").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["near"]


def test_damage_is_noticed(tmp_path, parcel):
    with pytest.raises(DataError):
        unpack(parcel[: len(parcel) // 2], tmp_path / "near", "one")
    with pytest.raises(DataError, match="another content"):
        unpack(tar_of(("files/abc.xodr", tarfile.REGTYPE, b"x")), tmp_path / "near", "one")
    assert list((tmp_path / "near/episodes").iterdir()) == []
