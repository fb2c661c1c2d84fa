"""Network adapters of a node and their ports (NetworkAdapter, Port and PortMetrics of DSP0268)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sim_hardware.devices.redfish.board import Board, is_number
from sim_hardware.devices.redfish.gauges import show_count, show_number, show_status, show_text
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import Body, link

_TOP_SPEED = 200.0  # Gb/s (L12)
_COUNTERS = {"RXErrors": "link.receive_errors", "RXDiscards": "link.discards"}
_FEC_COUNTERS = {"CorrectableFECErrors": "link.fec.corrected", "UncorrectableFECErrors": "link.fec.uncorrected"}
_OPTICS = {
    "RXInputPowerMilliWatts": "link.rx_power",
    "TXOutputPowerMilliWatts": "link.tx_power",
    "TXBiasCurrentMilliAmps": "link.bias",
    "SupplyVoltage": "link.voltage",
}


def list_adapters(node: str, cards: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each adapter's id, and its ports: id -> subject. A card is an adapter with two ports, and there is one NIC."""
    for number, card in enumerate(cards):
        yield f"Card{number}", {"0": f"{card}/port0", "1": f"{card}/port1"}
    yield "NIC0", {"0": f"{node}/nic/mlx5_0"}


def fit_adapters(board: Board, tree: Tree, chassis: str, node: str, cards: Sequence[str]) -> dict[str, str]:
    """Put adapters and ports into the tree; the subject of each port by its path."""
    adapters = dict(list_adapters(node, cards))
    known: dict[str, str] = {}
    tree.collect(f"{chassis}/NetworkAdapters", "NetworkAdapter", adapters)
    for adapter, ports in adapters.items():
        path = f"{chassis}/NetworkAdapters/{adapter}"
        tree.add(path, "NetworkAdapter.v1_11_0.NetworkAdapter", partial(_show_adapter, path))
        tree.collect(f"{path}/Ports", "Port", ports)
        for number, subject in ports.items():
            place = f"{path}/Ports/{number}"
            tree.add(place, "Port.v1_13_0.Port", partial(_show_port, board, place, subject))
            tree.add(f"{place}/Metrics", "PortMetrics.v1_6_1.PortMetrics", partial(_show_metrics, board, subject))
            known[place] = subject
    return known


def _show_adapter(path: str) -> Body:
    return {"Ports": link(f"{path}/Ports"), "Status": {"State": "Enabled", "Health": "OK"}}


def _show_port(board: Board, path: str, subject: str) -> Body:
    state = board.read(subject, "link.state").value
    mac = show_text(board.read(subject, "link.mac").value)
    fitted = board.read(subject, "link.present").value
    return {
        "LinkStatus": ("LinkUp" if state else "LinkDown") if is_number(state) else None,
        "LinkState": "Enabled",
        "PortProtocol": "Ethernet",
        "CurrentSpeedGbps": show_number(board.read(subject, "link.speed").value),
        "MaxSpeedGbps": _TOP_SPEED,
        "ActiveWidth": show_count(board.read(subject, "link.width").value),
        "Ethernet": {"AssociatedMACAddresses": [] if mac is None else [mac]},
        "SFP": {"Status": {"State": "Absent"} if fitted == 0 else show_status(fitted)},
        "Metrics": link(f"{path}/Metrics"),
        "Status": show_status(state),
    }


def _show_metrics(board: Board, subject: str) -> Body:
    """Counters as the port gives them, the optics of the whole module: lanes are not told apart."""

    def count(quantities: dict[str, str]) -> Body:
        return {name: show_count(board.read(subject, quantity).value) for name, quantity in quantities.items()}

    optics = {name: show_number(board.read(subject, quantity).value) for name, quantity in _OPTICS.items()}
    return {**count(_COUNTERS), "Oem": {"Sim": count(_FEC_COUNTERS)}, "Transceivers": [optics]}
