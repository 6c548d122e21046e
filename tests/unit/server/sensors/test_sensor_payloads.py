import math
import struct

import numpy as np

from jaywalk.server.encoding._sensor_frames import (
    HEADER_BYTES,
    bgra_to_depth,
    depth_to_bgra,
    encode_events,
    encode_flow,
    encode_image,
    encode_scan,
    pack_header,
)
from jaywalk.server.sensors._readings import (
    DVS_EVENT,
    LIDAR_POINT,
    RADAR_POINT,
    SEMANTIC_POINT,
    SensorPose,
    SensorType,
)


def test_header_layout():
    pose = SensorPose(1.0, 2.0, 3.0, math.radians(4.0), math.radians(5.0), math.radians(6.0))
    head = pack_header(SensorType.RGB, 77, 3.85, pose)
    assert HEADER_BYTES == len(head) == 48
    values = struct.unpack("<QQd6f", head)
    assert values[:3] == (13, 77, 3.85)
    np.testing.assert_allclose(values[3:], [1, 2, 3, 4, 5, 6], rtol=1e-6)


def test_record_sizes():
    assert DVS_EVENT.itemsize == 13
    assert LIDAR_POINT.itemsize == 16
    assert SEMANTIC_POINT.itemsize == 24
    assert RADAR_POINT.itemsize == 16


def test_image_payloads():
    pixels = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    data = encode_image(pixels, 90.0)
    assert struct.unpack("<IIf", data[:12]) == (3, 2, 90.0)
    assert data[12:] == pixels.tobytes()
    assert len(encode_flow(np.zeros((2, 3, 2), np.float32), 90.0)) == 12 + 2 * 3 * 8
    assert len(encode_events(np.zeros(5, DVS_EVENT), 3, 2, 90.0)) == 12 + 65


def test_depth_code_holds_a_tenth_of_a_millimetre():
    depth = np.array([[0.0, 0.5, 20.0, 123.456, 999.0, 5000.0]])
    coded = depth_to_bgra(depth)
    np.testing.assert_allclose(bgra_to_depth(coded), np.minimum(depth, 1000.0), atol=1000.0 / 2**24)
    # Client formula: metres = 1000 * (R + 256 G + 65536 B) / (2^24 - 1), bytes in BGRA order.
    blue, green, red, _ = (int(v) for v in coded[0, 2])
    assert abs(1000.0 * (red + 256 * green + 65536 * blue) / (2**24 - 1) - 20.0) < 1e-4


def test_scan_payload():
    points = np.zeros(3, LIDAR_POINT)
    data = encode_scan(points, np.array([1, 2], np.uint32), 0.5)
    assert struct.unpack("<fI2I", data[:16]) == (0.5, 2, 1, 2)
    assert len(data) == 16 + 3 * 16
