"""The motion benchmark measures, and says whether the aim is met."""

from jaywalk_bench.motion import AIM_CLIPS_PER_S, MotionBenchmark, bench_motion


def test_it_measures():
    result = bench_motion(clips=2)
    assert result.build_clips_per_s > 0.0
    assert result.retarget_clips_per_s > result.build_clips_per_s


def test_the_aim_is_a_lower_bound():
    figures = {"retarget_clips_per_s": 1.0, "clips": 1, "calibration_ms": 1.0}
    for factor, met in ((0.9, False), (1.1, True)):
        result = MotionBenchmark(build_clips_per_s=factor * AIM_CLIPS_PER_S, **figures)
        assert result.as_dict()["aims"]["build_clips_per_s"]["met"] is met
