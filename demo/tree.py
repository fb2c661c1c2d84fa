"""A scratch InfiniBand tree of two ports, as the kernel shows them in /sys/class/infiniband, made of plain files."""

from __future__ import annotations

import threading
from pathlib import Path

TICK = 0.1  # seconds
SPEED = 400e9  # bits per second of each port
WORD_BITS = 32  # port_rcv_data counts words of four octets
ERRORS = 2  # symbol errors in a tick
LINK, PEER = "demo/card0/port0", "demo/card1/port1"
PORTS = {"mlx5_0": LINK, "mlx5_1": PEER}
FACTS = {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": f"{SPEED / 1e9:.0f} Gb/sec (4X NDR)", "lid": "0x1"}


class Tree(threading.Thread):
    """Two ports as the kernel shows them, whose counters grow at line rate; while `erring` is set LINK has errors."""

    def __init__(self, root: Path) -> None:
        super().__init__(daemon=True)
        self.erring, self._ended = threading.Event(), threading.Event()
        self._root, self._words, self._errors = root, 10**12, 0
        self._texts: dict[Path, str] = {}
        for device in PORTS:
            for fact, text in FACTS.items():
                self._write(device, fact, text)
        self._count()

    def run(self) -> None:
        """Let the traffic flow until ended."""
        while not self._ended.wait(TICK):
            self._words += int(SPEED * TICK / WORD_BITS)
            self._errors += ERRORS * self.erring.is_set()
            self._count()

    def _count(self) -> None:
        for device, subject in PORTS.items():
            self._write(device, "counters/symbol_error", str(self._errors * (subject == LINK)))
            self._write(device, "counters/port_rcv_data", str(self._words))

    def _write(self, device: str, name: str, text: str) -> None:
        path = self._root / device / "ports/1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.new")
        new.write_text(text)
        new.replace(path)  # a reader sees the old number or the new one, never half of one
        self._texts[path] = text

    def end(self) -> list[Path]:
        """Stop the traffic; the files that somebody else has written."""
        self._ended.set()
        self.join()
        return [path for path in self._root.rglob("*") if path.is_file() and self._texts.get(path) != path.read_text()]
