"""``python -m jaywalk_agent FILE --port 8765``: serve the agent that a file defines.

``python -m jaywalk_agent people FILE`` serves people of your own.
"""

from __future__ import annotations

import argparse
import sys

from jaywalk_agent.loading import load_agent
from jaywalk_agent.people import load_people
from jaywalk_agent.server import DEFAULT_PORT, serve, serve_people

_PEOPLE = "people"


def main() -> int:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m jaywalk_agent",
        description="Serve the agent, or the people, that a Python file defines.",
        usage="%(prog)s [people] FILE [--host HOST] [--port PORT]",
        epilog="Example: python -m jaywalk_agent my_agent.py --port 8765. "
        "Example: python -m jaywalk_agent people my_people.py --port 8770",
    )
    parser.add_argument("file", help="file with one subclass of jaywalk_agent.Agent", nargs="+")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (%(default)s)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="port (%(default)s)")
    chosen = parser.parse_args()
    people = len(chosen.file) == 2 and chosen.file[0] == _PEOPLE
    if len(chosen.file) != 1 and not people:
        parser.error(f"expected FILE or people FILE, not {' '.join(chosen.file)}")
    try:
        if people:
            serve_people(load_people(chosen.file[1]), chosen.host, chosen.port)
        else:
            serve(load_agent(chosen.file[0]), chosen.host, chosen.port)
    except (ImportError, OSError) as problem:
        sys.stderr.write(f"jaywalk_agent: {problem}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
