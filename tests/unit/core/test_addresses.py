"""``HOST:PORT``."""

import pytest

from jaywalk.core.address import parse_address
from jaywalk.core.errors import UsageError


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("127.0.0.1:2000", "127.0.0.1", 2000), ("::1:65533", "::1", 65533), ("box:1", "box", 1)],
)
def test_host_and_port(text, host, port):
    assert parse_address(text) == (host, port)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "here",
        ":2000",
        "here:",
        "here:0",
        "here:65534",
        "here:999999",
        "here:-1",
        "here:²",
        "a:1\n",
    ],
)
def test_what_is_none_is_named(text):
    with pytest.raises(UsageError) as caught:
        parse_address(text, "--there")
    assert f"--there is '{text}', expected HOST:PORT" in str(caught.value)
