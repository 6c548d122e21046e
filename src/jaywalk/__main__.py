"""``python -m jaywalk``: the same as the ``jaywalk`` command."""

from jaywalk.cli.main import main

main()
