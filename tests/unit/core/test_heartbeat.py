import threading

from jaywalk.core.heartbeat import Heartbeat


def test_silence_gets_lines_until_the_work_ends():
    written, lines = threading.Event(), []

    def write(line):
        lines.append(line)
        written.set()

    with Heartbeat("opening Harbour", write, every_s=0.01) as beat:
        assert written.wait(30.0)
    assert not beat._thread.is_alive()
    assert lines[0].startswith("opening Harbour, 0 s (the first use compiles")


def test_a_line_in_between_counts_as_a_sign_of_life():
    lines = []
    with Heartbeat("working", lines.append, every_s=1e6) as beat:
        before_s = beat._last_s
        beat.touch()
        assert beat._last_s >= before_s
    assert lines == []
