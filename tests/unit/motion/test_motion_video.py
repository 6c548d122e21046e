"""Video: the ground, the camera, the fit, tracking, and a clip from end to end."""

import json
from pathlib import Path

import numpy as np
import pytest
import video_scene
from synthetic_motion import walking
from typer.testing import CliRunner

from jaywalk.cli.motion import app
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.geometry.rotation import from_rotvec, rotate
from jaywalk.metrics.motion.video_accuracy import (
    PERFECT,
    Noise,
    ground_points,
    measure,
    mpjpe_m,
    on_stage,
    pa_mpjpe_m,
    path_error_m,
    seen_landmarks,
    street_camera,
)
from jaywalk.motion.library.building import write_library
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.video import mediapipe_pose
from jaywalk.motion.video._normal_equations import solve_band
from jaywalk.motion.video.camera import UNKNOWNS, BodyTrack, find_camera, place
from jaywalk.motion.video.ground import GroundPoints, homography, read_ground
from jaywalk.motion.video.landmarks import (
    LANDMARK_COUNT,
    Landmarks,
    Sighting,
    at_even_times,
    read_frames,
)
from jaywalk.motion.video.reading import VideoOptions, find_people, fit_people

IMAGE = [[100.0, 600.0], [1100.0, 620.0], [800.0, 300.0], [400.0, 310.0]]
GROUND = [[-3.0, 5.0], [3.0, 5.0], [3.0, 15.0], [-3.0, 15.0]]


def written(tmp_path, **value):
    path = tmp_path / "four.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"image_px": IMAGE[:3], "ground_m": GROUND[:3]}, "at least four"),
        ({"image_px": IMAGE, "ground_m": GROUND[:3]}, "4 points in pixels and 3 in metres"),
        ({"image_px": IMAGE}, "lacks 'ground_m'"),
        ({"image_px": IMAGE, "ground_m": [[float("nan"), 5.0], *GROUND[1:]]}, "not finite"),
        ({"image_px": [[i, 2 * i] for i in range(4)], "ground_m": GROUND}, "one line"),
        ({"image_px": IMAGE, "ground_m": [[0, 0], [1, 1], [2, 2], [0, 5]]}, "one line"),
        ({"image_px": IMAGE, "ground_m": [GROUND[0], *GROUND[:3]]}, "one line"),
        ({"image_px": IMAGE, "ground_m": [GROUND[i] for i in (0, 2, 1, 3)]}, "same order"),
        ({"image_px": IMAGE, "ground_m": [["a", 1], *GROUND[1:]]}, "expected two numbers"),
        ({"image_px": IMAGE, "ground_m": GROUND, "focal_px": -3}, "positive"),
        ({"image_px": IMAGE, "ground_m": GROUND, "foo": 1}, "unknown 'foo'"),
        ({"points": [{"image_px": [1, 2]}]}, "image_px and ground_m"),
    ],
)
def test_broken_ground_files_are_told(tmp_path, value, message):
    with pytest.raises(DataError, match=message):
        read_ground(written(tmp_path, **value))


def test_ground_file_forms_and_picture_size(tmp_path):
    pairs = [{"image_px": i, "ground_m": g} for i, g in zip(IMAGE, GROUND, strict=True)]
    ground = read_ground(written(tmp_path, points=pairs, image_size_px=[1280, 720]))
    np.testing.assert_array_equal(ground.image_px, IMAGE)
    with pytest.raises(DataError, match="1280 x 720 px, the clip has 640 x 360"):
        ground.check_inside(640, 360)
    loose = read_ground(written(tmp_path, image_px=IMAGE, ground_m=GROUND))
    with pytest.raises(DataError, match=r"point 1 .* outside the picture"):
        loose.check_inside(640, 360)
    (tmp_path / "no.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match="JSON"):
        read_ground(tmp_path / "no.json")


def test_homography_is_that_of_a_known_matrix():
    rng = np.random.default_rng(0)
    true = np.array([[300.0, 20.0, 500.0], [10.0, -80.0, 400.0], [0.01, 0.03, 1.0]])
    points = rng.uniform(-5, 5, (7, 2))
    whole = np.column_stack([points, np.ones(7)]) @ true.T
    found = homography(points, whole[:, :2] / whole[:, 2:])
    np.testing.assert_allclose(found / found[2, 2], true, atol=1e-6)


@pytest.mark.parametrize("flipped", [1.0, -1.0])
def test_camera_is_found_again_in_either_handedness(flipped):
    true = street_camera(height_m=3.1, focal_px=900.0)
    points = ground_points(true, noise_px=0.0, seed=0)
    given = GroundPoints(image_px=points.image_px, ground_m=points.ground_m * [1.0, flipped])
    found = find_camera(given, 1280, 720)
    assert found.focal_px == pytest.approx(900.0, rel=1e-4)
    np.testing.assert_allclose(found.place_m, true.place_m, atol=1e-3)
    np.testing.assert_allclose(found.turn, true.turn, atol=1e-4)
    np.testing.assert_allclose(
        found.on_ground(true.project(np.array([[1.0, 0, -8.0]]))), [[1.0, 0.0, -8.0]], atol=1e-2
    )


def test_band_solver_agrees_with_a_dense_one():
    rng = np.random.default_rng(1)
    n, width = 40, 7
    lower = np.tril(np.triu(rng.normal(size=(n, n)), -width + 1)) + 5 * np.eye(n)
    dense = np.triu(np.tril(lower @ lower.T, width - 1), -width + 1) + 20 * np.eye(n)
    band = np.zeros((n, width))
    for d in range(width):
        band[: n - d, d] = np.diagonal(dense, -d)
    right = rng.normal(size=(n, 2))
    solved = right.copy()
    assert solve_band(band, solved)
    np.testing.assert_allclose(solved, np.linalg.solve(dense, right), rtol=1e-9)
    assert not solve_band(-np.ones((3, 2)), np.ones((3, 1)))


def test_slopes_of_points_are_those_of_finite_differences():
    motion = walking(seconds=0.2, turn_rps=0.4)
    body = BodyTrack(rotations=motion.rotations, root_m=motion.root_m, scale=0.9)
    placed = place(body)
    for unknown in range(UNKNOWNS):
        step = np.zeros((motion.frames, UNKNOWNS))
        step[:, unknown] = 1e-6
        moved = place(body.moved(step, 0.0), slopes=False).points_m
        slope = (moved - placed.points_m) / 1e-6
        np.testing.assert_allclose(placed.slopes[..., unknown], slope, atol=1e-5)
    grown = place(body.moved(np.zeros((motion.frames, UNKNOWNS)), 1e-6), slopes=False).points_m
    np.testing.assert_allclose(placed.growth, (grown - placed.points_m) / 1e-6, atol=1e-5)


def made_landmarks(times):
    times = np.asarray(times)
    image = np.zeros((len(times), LANDMARK_COUNT, 2)) + 100.0 * times[:, None, None]
    return Landmarks(
        times_s=times,
        image_px=image,
        world_m=np.zeros((len(times), LANDMARK_COUNT, 3)),
        confidence=np.ones((len(times), LANDMARK_COUNT)),
    )


def test_uneven_frames_are_brought_to_even_times():
    even = at_even_times(made_landmarks([0.0, 0.03, 0.1, 0.14, 0.2, 0.9, 1.0]), 20.0)
    np.testing.assert_allclose(np.diff(even.times_s), 0.05)
    sure = even.confidence[:, 0] > 0.0
    np.testing.assert_allclose(even.image_px[sure, 0, 0], 100.0 * even.times_s[sure])
    assert sure[:5].all()  # up to 0.2 s
    assert not sure[5:18].any()  # nobody knows what happened from 0.2 to 0.9 s
    with pytest.raises(DataError, match="increase"):
        made_landmarks([0.0, 0.0, 0.1])


def test_pose_errors_do_not_count_what_they_should_not():
    joints = walking(seconds=0.5).joints_m()
    turned = rotate(from_rotvec(np.array([0.0, 0.3, 0.0])), joints) * 1.1 + np.array([1.0, 0, 0])
    assert pa_mpjpe_m(turned, joints) < 1e-9
    assert mpjpe_m(joints + 2.0, joints) < 1e-12
    assert mpjpe_m(turned, joints) > 0.05
    assert path_error_m(joints[:, 0] + [0.3, 9.0, 0.4], joints[:, 0]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("noise", "mpjpe", "pa", "path"),
    [
        (PERFECT, 0.025, 0.02, 0.05),
        (Noise(image_px=2.0), 0.07, 0.055, 0.15),
        (Noise(image_px=5.0), 0.08, 0.065, 0.20),
    ],
)
def test_known_motion_is_found_again_through_noise(noise, mpjpe, pa, path):
    motion = walking(seconds=3.0, speed_mps=1.3, turn_rps=0.3, scale=1.05)
    found = measure(motion, noise, seed=2, yaw_rad=2.0)
    assert found.mpjpe_m < mpjpe
    assert found.pa_mpjpe_m < pa
    assert found.path_m < path
    assert abs(found.scale_error) < 0.05


def test_a_person_above_the_horizon_is_refused():
    film = street_camera()
    seen = seen_landmarks(on_stage(walking(seconds=1.0), yaw_rad=0.0), film, PERFECT, seed=0)
    lifted = Landmarks(
        times_s=seen.times_s,
        image_px=seen.image_px - [0.0, 400.0],
        world_m=seen.world_m,
        confidence=seen.confidence,
    )
    from jaywalk.motion.video.fit import fit_person

    with pytest.raises(DataError, match="horizon"):
        fit_person(lifted, film, rate_hz=25.0)


class Filmed:
    """A source that knows the truth: the frame's number is written into its first pixels."""

    def __init__(self, people):
        self.people = people  # landmarks of every person
        self.learnt = 0

    def learn(self, pictures):
        self.learnt = len(pictures)

    def _seen(self, picture):
        frame = int(np.rint(picture[:8, :8, 0].mean() / 4.0))
        for seen in self.people:
            if seen.confidence[frame].any():
                yield Sighting(
                    image_px=seen.image_px[frame],
                    world_m=seen.world_m[frame],
                    confidence=seen.confidence[frame],
                )

    def propose(self, picture, *, thorough):
        return [one.box for one in self._seen(picture)]

    def look(self, picture, box):
        near = [one for one in self._seen(picture) if one.box.shared(box) > 0.5]
        return max(near, key=lambda one: one.box.shared(box), default=None)


def plain_clip(path: Path, count: int, times=None) -> Path:
    pictures = [np.full((720, 1280, 3), 4 * i, dtype=np.uint8) for i in range(count)]
    video_scene.write_clip(path, pictures, times or [i / 25 for i in range(count)])
    return path


def test_two_people_from_clip_to_library(tmp_path):
    film = street_camera()
    clip = plain_clip(tmp_path / "street.mp4", 50)
    walks = []
    for yaw, aside in ((0.4, -1.5), (3.3, 1.5)):
        staged = on_stage(walking(seconds=2.0), yaw_rad=yaw)
        walks.append(staged.with_poses(staged.rotations, staged.root_m + np.array([aside, 0, 0])))
    people = [seen_landmarks(m, film, Noise(image_px=1.0), seed=i) for i, m in enumerate(walks)]
    people[1].confidence[20:28] = 0.0  # hidden for a third of a second
    source = Filmed(people)
    said = []
    options = VideoOptions(licence="CC0", caption="a person walks")
    ground = ground_points(film, noise_px=0.0, seed=0)
    reading = find_people(clip, ground, source, options, say=said.append)
    assert source.learnt >= 20
    assert reading.frames == 50
    assert reading.rate_hz == pytest.approx(25.0)
    assert len(reading.tracks) == 2
    fitted, problems = fit_people(reading, clip, options)
    assert not problems
    for person, truth in zip(fitted, walks, strict=True):
        found = person.motion.joints_m()
        assert mpjpe_m(found, truth.joints_m()[: len(found)]) < 0.08
        assert path_error_m(found[:, 0], truth.root_m[: len(found)]) < 0.15
    assert not write_library([one.motion for one in fitted], tmp_path / "lib")
    library = open_library(tmp_path / "lib")
    assert library.names == ["street-p01", "street-p02"]
    assert set(library.columns["licence"]) == {"CC0"}
    assert library.columns["source"][0].startswith("video/street.mp4[0.00:")
    assert library.on_rig("street-p01", "girl").actor.shape[1] == 4


def test_nobody_or_too_briefly(tmp_path):
    film = street_camera()
    ground = ground_points(film, noise_px=0.0, seed=0)
    clip = plain_clip(tmp_path / "empty.mp4", 20)
    with pytest.raises(DataError, match="no person found in 20 frames"):
        find_people(clip, ground, Filmed([]), VideoOptions())
    staged = on_stage(walking(seconds=2.0), yaw_rad=0.0)
    seen = seen_landmarks(staged, film, PERFECT, seed=0)
    reading = find_people(clip, ground, Filmed([seen]), VideoOptions(shortest_s=5.0))
    people, problems = fit_people(reading, clip, VideoOptions(shortest_s=5.0))
    assert not people
    assert "less than 5 s" in problems[0].reason
    with pytest.raises(UsageError, match="shortest_s"):
        VideoOptions(shortest_s=float("nan"))


def test_frames_keep_their_own_times_and_broken_clips_are_told(tmp_path):
    times = [0.0, 0.04, 0.1, 0.3, 0.32, 0.5]
    clip = plain_clip(tmp_path / "uneven.mp4", 6, times)
    np.testing.assert_allclose([f.time_s for f in read_frames(clip)], times, atol=2e-3)
    told = [f.time_s for f in read_frames(clip, rate_hz=7.0)]
    np.testing.assert_allclose(told, np.arange(6) / 7.0)
    (tmp_path / "text.mp4").write_text("not a video", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be opened as a video"):
        list(read_frames(tmp_path / "text.mp4"))
    with pytest.raises(DataError, match="No such file"):
        list(read_frames(tmp_path / "absent.mp4"))


def test_without_the_extra_the_fix_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(mediapipe_pose, "find_spec", lambda _: None)
    with pytest.raises(PrerequisiteError, match=r"jaywalk\[video\]"):
        mediapipe_pose.MediaPipeSource()
    clip = plain_clip(tmp_path / "clip.mp4", 5)
    four = written(tmp_path, image_px=IMAGE, ground_m=GROUND)
    arguments = ["video", str(clip), "--ground", str(four), "--out", str(tmp_path / "lib")]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, PrerequisiteError)
    assert not (tmp_path / "lib").exists()


@pytest.mark.slow
def test_the_real_network_finds_drawn_people(tmp_path):
    pytest.importorskip("mediapipe", reason="needs the extra 'video'")
    film = street_camera()
    staged = on_stage(walking(seconds=1.6, speed_mps=1.2), yaw_rad=1.2)
    staged = staged.with_poses(staged.rotations, staged.root_m + np.array([0, 0, 2.5]))
    behind = video_scene.background(film, 1280, 720)
    pictures = [video_scene.draw(behind, film, [(staged, i)]) for i in range(staged.frames)]
    clip = tmp_path / "drawn.mp4"
    video_scene.write_clip(clip, pictures, [i / 25 for i in range(len(pictures))])
    ground = ground_points(film, noise_px=0.0, seed=0)
    with mediapipe_pose.MediaPipeSource() as source:
        reading = find_people(clip, ground, source, VideoOptions())
    people, _ = fit_people(reading, clip, VideoOptions())
    assert len(people) == 1
    found = people[0].motion.joints_m()
    first = round(25 * people[0].first_s)
    truth = staged.joints_m()[first : first + len(found)]
    assert len(found) > 25
    assert pa_mpjpe_m(found, truth) < 0.10
    assert path_error_m(found[:, 0], truth[:, 0]) < 0.25
