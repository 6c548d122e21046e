import pytest
from behaviour_files import jaad_files, pie_files, write_folder, write_zip

from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.datasets._jaad import load_jaad
from jaywalk.datasets._pie import load_pie
from jaywalk.forecasting.behaviour.factors import FACTORS, group_by_factors
from jaywalk.forecasting.behaviour.sampling import draw_samples
from jaywalk.forecasting.behaviour.tasks import find_task


@pytest.fixture(scope="module")
def jaad(tmp_path_factory):
    data = load_jaad(write_folder(tmp_path_factory.mktemp("jaad"), jaad_files()))
    return data, draw_samples(data, find_task("action", "jaad"))


@pytest.fixture(scope="module")
def pie(tmp_path_factory):
    data = load_pie(write_folder(tmp_path_factory.mktemp("pie"), pie_files()))
    return data, draw_samples(data, find_task("action", "pie"))


def groups(found, *names, observed_only=False):
    data, samples = found
    return group_by_factors(data, samples, names, observed_only=observed_only)


def test_jaad(jaad):
    assert groups(jaad, "state") == ["walking"] * 13 + ["untagged"] * 7
    assert groups(jaad, "road") == ["two_way"] * 7 + ["one_way"] * 6 + ["untagged"] * 7
    assert set(groups(jaad, "lanes")) == {"narrow", "untagged"}
    assert set(groups(jaad, "scale")) == {"80-100"}  # right-closed: 100 px belong below
    assert set(groups(jaad, "signal")) == {"forbid"}
    assert set(groups(jaad, "weather")) == {"rain"}
    assert groups(jaad, "already_crossing") == ["no"] * 7 + ["yes"] * 6 + ["untagged"] * 7
    # The first window starts at frame 6, the second at 16, the third at 26: crossings from 20 on.
    assert groups(jaad, "crosswalk")[:3] == ["no", "no", "yes"]


def test_the_strict_window_ends_with_the_observation(jaad):
    # Stopped until frame 50. From 26 on: 24 stopped of 45 frames, all 15 of the observed ones.
    whole, seen = groups(jaad, "ego")[:7], groups(jaad, "ego", observed_only=True)[:7]
    assert whole == ["stopped"] * 3 + ["moving_slow"] * 4
    assert seen == ["stopped"] * 4 + ["moving_slow"] * 3


def test_pie(pie):
    assert set(groups(pie, "speed")) == {"10-20"}
    assert set(groups(pie, "signal")) == {"forbid"}
    assert set(groups(pie, "state")) == {"standing"}
    assert groups(pie, "road") == ["one_way"] * 7 + ["two_way"] * 7


def test_factors_are_crossed(jaad):
    crossed = groups(jaad, "road", "state")
    assert crossed[0] == "two_way & walking"
    assert len(set(crossed)) == 3


@pytest.mark.parametrize("name", sorted(set(FACTORS) - {"speed"}))
def test_every_factor_names_every_sample(jaad, name):
    values = groups(jaad, name)
    assert len(values) == 20
    assert all(isinstance(value, str) and value for value in values)


def test_what_cannot_be_said(jaad, tmp_path):
    with pytest.raises(UsageError, match="no factor 'mood'"):
        groups(jaad, "mood")
    name = "annotations_attributes/set03/video_0001_attributes.xml"
    blind = load_pie(write_zip(tmp_path / "a.zip", {name: pie_files()[name]}))
    samples = draw_samples(blind, find_task("intention", "pie"))
    assert len(group_by_factors(blind, samples, ["road"], observed_only=False)) == 12
    with pytest.raises(PrerequisiteError, match="needs boxes"):
        group_by_factors(blind, samples, ["scale"], observed_only=False)
