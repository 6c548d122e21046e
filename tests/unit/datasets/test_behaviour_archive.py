import io
import os
import tarfile
import zipfile

import pytest
from behaviour_files import jaad_files, write_folder, write_tar, write_zip

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.datasets import _annotation_files as archive
from jaywalk.datasets._annotation_files import canonical_name, read_members
from jaywalk.datasets._cvat import read_cvat, read_elements
from jaywalk.datasets._jaad import FOLDERS


def read_all(path):
    return dict(read_members(path, FOLDERS, lambda name: True))


def test_folder_zip_tar_and_folder_of_archives_give_the_same(tmp_path):
    files = {name: text.encode() for name, text in jaad_files().items()}
    folder = write_folder(tmp_path / "JAAD", jaad_files())
    assert read_all(folder) == files
    assert read_all(write_zip(tmp_path / "a.zip", jaad_files(), "JAAD-2.0/")) == files
    assert read_all(write_tar(tmp_path / "b.tar.gz", folder, "./x/")) == files
    nested = tmp_path / "nested"
    nested.mkdir()
    write_zip(nested / "annotations.zip", jaad_files())
    assert read_all(nested) == files


def test_an_archive_beside_its_unpacked_files_adds_nothing(tmp_path):
    folder = write_folder(tmp_path, {"annotations/video_0001.xml": "new"})
    write_zip(folder / "annotations.zip", {"annotations/video_0001.xml": "old"})
    found = list(read_members(folder, FOLDERS, lambda name: True))
    assert found == [("annotations/video_0001.xml", b"new")]


def test_a_folder_called_like_a_part_of_the_layout_is_that_part(tmp_path):
    folder = write_folder(tmp_path, {"annotations/video_0001.xml": "<a/>"})
    assert read_all(folder / "annotations") == {"annotations/video_0001.xml": b"<a/>"}


def test_member_names_cannot_leave_the_layout(tmp_path):
    assert canonical_name("/annotations/../../x.xml", FOLDERS) is None
    assert canonical_name("..\\annotations\\x.xml", FOLDERS) is None
    assert canonical_name("annotations", FOLDERS) is None
    target = tmp_path / "evil.tar"
    with tarfile.open(target, "w") as out:
        link = tarfile.TarInfo("annotations/video_0001.xml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        out.addfile(link)
        escape = tarfile.TarInfo("annotations/../../out.xml")
        escape.size = 1
        out.addfile(escape, io.BytesIO(b"x"))
    before = sorted(tmp_path.rglob("*"))
    assert read_all(target) == {}
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["pipe", "pipe.zip", "pipe.tar.gz"])
def test_pipes_and_devices_are_refused(tmp_path, name):
    """The archive modules would wait for a writer, or read zeros for ever."""
    (tmp_path / "a").mkdir()
    pipe, device = tmp_path / "a" / name, tmp_path / "a" / f"zero-{name}"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for path in (pipe, device):
        with pytest.raises(DataError, match="is a pipe, a socket or a device"):
            read_all(path)
    assert read_all(tmp_path) == {}  # in a folder they are passed over


@pytest.mark.parametrize("mode", ["", "gz", "bz2", "xz"])
def test_only_the_compression_of_an_archive_is_tried(tmp_path, mode, monkeypatch):
    """The decoder of xz looks for its data behind any number of zeros."""
    target = tmp_path / "some.tar"
    with tarfile.open(target, f"w:{mode}") as out:
        member = tarfile.TarInfo("annotations/video_0001.xml")
        member.size = 1
        out.addfile(member, io.BytesIO(b"x"))
    tried = []
    for one in ("tar", "gz", "bz2", "xz"):
        name = f"{one}open"
        real = getattr(tarfile.TarFile, name)

        def noted(*arguments, one=one, real=real, **options):
            tried.append(one)
            return real(*arguments, **options)

        monkeypatch.setattr(tarfile.TarFile, name, noted)
    assert read_all(target) == {"annotations/video_0001.xml": b"x"}
    assert set(tried) <= {"tar", mode}
    tried.clear()
    zeros = tmp_path / "zeros.zip"
    with zeros.open("wb") as file:
        file.truncate(100_000)
    assert read_all(zeros) == {}  # an empty tar is no more than zeros
    assert set(tried) == {"tar"}


def test_bombs_end_in_a_message(tmp_path, monkeypatch):
    target = tmp_path / "bomb.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("annotations/video_0001.xml", b"0" * 100_000)
    monkeypatch.setattr(archive, "MAX_MEMBER_BYTES", 50_000)
    with pytest.raises(DataError, match=r"video_0001\.xml"):
        read_all(target)
    monkeypatch.setattr(archive, "MAX_MEMBER_BYTES", 200_000)
    monkeypatch.setattr(archive, "MAX_TOTAL_BYTES", 50_000)
    with pytest.raises(DataError, match="more than 50000 bytes"):
        read_all(target)


def test_broken_and_absent_files(tmp_path):
    with pytest.raises(PrerequisiteError, match="does not exist"):
        read_all(tmp_path / "none")
    text = tmp_path / "text.zip"
    text.write_text("not a zip")
    with pytest.raises(DataError, match="neither"):
        read_all(text)
    short = write_zip(tmp_path / "short.zip", {"annotations/video_0001.xml": "<a/>" * 1000})
    data = bytearray(short.read_bytes())
    data[60:90] = b"\0" * 30
    short.write_bytes(bytes(data))
    with pytest.raises(DataError, match="broken zip"):
        read_all(short)


@pytest.mark.parametrize("reader", [read_cvat, lambda d, n: read_elements(d, n, frozenset("a"))])
def test_entities_are_refused(reader):
    bomb = b'<!DOCTYPE a [<!ENTITY x "y">]><annotations>&x;</annotations>'
    with pytest.raises(DataError, match="entities or a document type"):
        reader(bomb, "bad.xml")
    outside = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    with pytest.raises(DataError, match=r"bad\.xml"):
        reader(outside, "bad.xml")


def test_broken_annotations_name_the_file():
    with pytest.raises(DataError, match=r"v\.xml.*cannot be read"):
        read_cvat(b"<annotations><track label='ped'>", "v.xml")
    with pytest.raises(DataError, match=r"v\.xml"):
        read_cvat(b"<a><track label='ped'><box frame='x'/></track></a>", "v.xml")


def test_boxes_outside_do_not_count_and_columns_stay_aligned():
    data = b"""<annotations><meta><task><size>9</size></task></meta><track label="ped">
    <box frame="1" outside="0" xtl="1" ytl="2" xbr="3" ybr="4">
    <attribute name="id">p</attribute></box>
    <box frame="2" outside="1" xtl="1" ytl="2" xbr="3" ybr="4"><attribute name="cross">crossing
    </attribute></box>
    <box frame="3" outside="0" xtl="1" ytl="2" xbr="3" ybr="4"><attribute name="cross">crossing
    </attribute></box>
    <box frame="4" outside="0" xtl="5" ytl="2" xbr="3" ybr="4"/></track></annotations>"""
    video = read_cvat(data, "v.xml")
    (track,) = video.tracks
    assert video.meta == {"size": "9"}
    assert track.object_id == "p"
    assert track.frames == [1, 3, 4]
    assert track.corners_px[2] == (5.0, 2.0, 3.0, 4.0)
    assert track.attributes == {"cross": [None, "crossing", None]}
