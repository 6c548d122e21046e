import pytest

from jaywalk.record._contacts import Hit, group_hits, join_hits
from jaywalk.record.queries import Contact


def hit(tick, other=2, kind="walker.pedestrian.0001", impulse=(-3.0, 0.0, 4.0)):
    return Hit(tick=tick, other=other, other_type_id=kind, impulse_ns=impulse, place_m=(1, 2, 3))


def contact(tick, end_tick):
    return Contact(
        actor=0,
        other=2,
        tick=tick,
        end_tick=end_tick,
        x_m=0.0,
        y_m=0.0,
        z_m=0.0,
        normal_x=-1.0,
        normal_y=0.0,
        speed_mps=5.0,
        other_speed_mps=0.0,
        closing_mps=5.0,
    )


def test_messages_of_one_hit_are_grouped():
    groups = group_hits([hit(30), hit(5), hit(7), hit(6, other=3), hit(17)], merge_ticks=10)
    assert [[h.tick for h in group] for group in groups] == [[5, 7, 17], [6], [30]]


def test_impulses_go_to_the_contact_geometry_found_and_scenery_stands_alone():
    wall = hit(50, other=None, kind="static.wall", impulse=(-10.0, 0.0, 0.0))
    contacts, alone = join_hits(
        0, [hit(21), hit(22), wall], [contact(20, 21), contact(90, 95)], 10, lambda tick: (6.0, 8.0)
    )
    assert [c.impulse_ns for c in contacts] == [10.0, None]
    (event,) = alone
    assert (event["tick"], event["end_tick"], event["other"]) == (50, 50, None)
    assert event["other_type_id"] == "static.wall"
    assert event["speed_mps"] == pytest.approx(10.0)
    assert (event["normal_x"], event["closing_mps"]) == (-1.0, pytest.approx(6.0))
