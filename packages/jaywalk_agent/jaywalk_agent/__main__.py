"""``python -m jaywalk_agent FILE --port 8765``: serve the agent that a file defines."""

from __future__ import annotations

import argparse
import sys

from jaywalk_agent.loading import load_agent
from jaywalk_agent.server import DEFAULT_PORT, serve


def main() -> int:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m jaywalk_agent",
        description="Serve the agent that a Python file defines.",
        epilog="Example: python -m jaywalk_agent my_agent.py --port 8765",
    )
    parser.add_argument("file", help="file with one subclass of jaywalk_agent.Agent")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (%(default)s)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="port (%(default)s)")
    chosen = parser.parse_args()
    try:
        serve(load_agent(chosen.file), chosen.host, chosen.port)
    except (ImportError, OSError) as problem:
        sys.stderr.write(f"jaywalk_agent: {problem}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
