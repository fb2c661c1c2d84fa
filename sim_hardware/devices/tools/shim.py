"""Small executables by the names of the tools, which ask the server behind a socket. For a daemon that runs tools as processes."""

from __future__ import annotations

import sys
from pathlib import Path

from sim_hardware.devices.tools.running import TOOLS

NO_SERVER = 69  # EX_UNAVAILABLE of sysexits.h

_TEXT = """#!{python} -IS
import os, socket, sys
fields = [{tool!r}, {node!r}, *sys.argv[1:]]
line = socket.socket(socket.AF_UNIX)
try:
    line.connect({path!r})
    line.sendall(b"%d\\n" % len(fields) + b"".join(os.fsencode(field) + b"\\0" for field in fields))
    answer = line.makefile("rb")
    code, out, err = map(int, answer.readline().split())
    texts = (1, answer.read(out)), (2, answer.read(err))
except (OSError, ValueError) as error:
    os.write(2, ("%s: no answer from the simulator: %s\\n" % (fields[0], error)).encode())
    sys.exit({no_server})
for number, text in texts:
    while text:
        text = text[os.write(number, text):]
sys.exit(code)
"""


def write_shims(folder: Path, path: Path, node: str) -> tuple[Path, ...]:
    """One executable a tool into `folder`, for this node, over the socket at `path`. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for tool in TOOLS:
        shim = folder / tool
        shim.write_text(_TEXT.format(python=sys.executable, tool=tool, node=node, path=str(path), no_server=NO_SERVER), encoding="utf-8")
        shim.chmod(0o755)
        written.append(shim)
    return tuple(written)
