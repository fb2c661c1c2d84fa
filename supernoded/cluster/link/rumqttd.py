"""The program of the embedded broker's process, run by its path: it imports nothing of ours, which keeps it small."""

from __future__ import annotations

import logging
import os
import sys
import threading

from iotcore.iotcore import IotCoreBroker


def end_with_parent() -> None:
    """End when the pipe on stdin closes, however the daemon ended. `sys.stdin` would hold a lock when this process ends by itself."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def main() -> None:
    """Serve the configuration named by the first argument, for ever."""
    logging.disable(logging.CRITICAL)  # rumqttd reports each packet as an error
    threading.Thread(target=end_with_parent, daemon=True).start()
    IotCoreBroker(config_path=sys.argv[1]).run_forever()


if __name__ == "__main__":
    main()
