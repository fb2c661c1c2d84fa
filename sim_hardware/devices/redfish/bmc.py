"""The BMC of a node: system, cards, manager (ComputerSystem, Processor and Manager of DSP0268)."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import partial

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.redfish.asking import refuse_others, take_word
from sim_hardware.devices.redfish.bmc_caps import fit_caps
from sim_hardware.devices.redfish.bmc_chassis import fit_chassis
from sim_hardware.devices.redfish.bmc_links import LinkMonitor
from sim_hardware.devices.redfish.bmc_ports import fit_adapters
from sim_hardware.devices.redfish.bmc_power import RESETS, Power
from sim_hardware.devices.redfish.board import Board, tell_time
from sim_hardware.devices.redfish.gauges import show_text
from sim_hardware.devices.redfish.server import PASSWORD, USER, RedfishDevice
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import ROOT, Body, Deed, link
from sim_hardware.plant.words import PlantError
from sim_hardware.rack.shape import Node

AWAY_S = 30.0  # a BMC that restarts; one that never went away hid untested retries (infra-controller #4493)
STARTING_S = 10.0  # of 503 after that (ours)
_SYSTEM, _CHASSIS, _MANAGER = f"{ROOT}/Systems/1", f"{ROOT}/Chassis/1", f"{ROOT}/Managers/1"
_LOGIN = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
_MONITOR = f"{_MANAGER}/Oem/Sim/LinkHealthMonitor"
_RESTARTS = ("GracefulRestart", "ForceRestart")


def make_bmc(panel: Panel, node: str) -> RedfishDevice:
    """The BMC of a node, such as `n0`. It runs as long as its shelf gives direct current. Raises PlantError when there is no such node."""
    for known in panel.rack.nodes:
        if known.name == node:
            device = RedfishDevice(f"{node}/bmc", panel, partial(_fit, known))
            device.board.supply = node
            return device
    raise PlantError(f"there is no node {node}; there are {', '.join(known.name for known in panel.rack.nodes) or 'none'}")


def switch_monitor(device: RedfishDevice, *, on: bool) -> None:
    """Switch the link-health monitor of a BMC, as its page does; one that is away or busy does nothing."""
    device.service.answer("PATCH", _MONITOR, json.dumps({"Enabled": on}).encode(), {"Authorization": f"Basic {_LOGIN}"})


def _fit(node: Node, board: Board, tree: Tree) -> Body:
    cards = node.list_cards()
    _fit_system(node, board, tree)
    fit_chassis(board, tree, _CHASSIS, node.name, cards)
    ports = fit_adapters(board, tree, _CHASSIS, node.name, cards)
    LinkMonitor(board, _MONITOR, ports).add_to(tree)
    _fit_manager(board, tree)
    return {name: link(f"{ROOT}/{name}") for name in ("Systems", "Chassis", "Managers")}


def _fit_system(node: Node, board: Board, tree: Tree) -> None:
    power, target = Power(board, node.name, _SYSTEM), f"{_SYSTEM}/Actions/ComputerSystem.Reset"

    def show() -> Body:
        return {
            "SystemType": "Physical",
            "HostName": node.name,
            **power.show(),
            "Processors": link(f"{_SYSTEM}/Processors"),
            "Links": {"Chassis": [link(_CHASSIS)], "ManagedBy": [link(_MANAGER)]},
            "Actions": {"#ComputerSystem.Reset": {"target": target, "ResetType@Redfish.AllowableValues": list(RESETS)}},
            "Status": {"State": "Enabled", "Health": "OK"},
        }

    tree.collect(f"{ROOT}/Systems", "ComputerSystem", ["1"])
    tree.add(_SYSTEM, "ComputerSystem.v1_23_0.ComputerSystem", show, name=f"Node {node.name}")
    tree.act(target, power.reset)
    cards = {f"Card{number}": card for number, card in enumerate(node.list_cards())}
    tree.collect(f"{_SYSTEM}/Processors", "Processor", cards)
    paths = {f"{_SYSTEM}/Processors/{identity}": card for identity, card in cards.items()}
    for path, card in paths.items():
        tree.add(path, "Processor.v1_20_0.Processor", partial(_show_card, board, card, path))
    fit_caps(board, tree, _CHASSIS, paths)


def _show_card(board: Board, card: str, path: str) -> Body:
    return {
        "EnvironmentMetrics": link(f"{path}/EnvironmentMetrics"),
        "ProcessorType": "Accelerator",
        "Model": show_text(board.read(card, "card.chip").value),
        "SerialNumber": show_text(board.read(card, "card.serial").value),
        "FirmwareVersion": show_text(board.read(card, "card.firmware").value),
        "Status": _show_card_status(board, card),
    }


def _show_card_status(board: Board, card: str) -> Body:
    """A card that fell off its bus is absent. Any health code is Critical: what a code means is the business of its reader."""
    codes = board.read(card, "card.health").value
    if board.read(card, "card.present").value == 0 or codes is None:
        return {"State": "Absent", "Health": None}
    if not isinstance(codes, frozenset):
        return {"State": "UnavailableOffline", "Health": "Warning"}
    told = [{"MessageId": "SimCard.1.0.HealthCode", "MessageArgs": [code], "Severity": "Critical"} for code in sorted(codes)]
    return {"State": "Enabled", "Health": "Critical" if codes else "OK", "Conditions": told}


def _fit_manager(board: Board, tree: Tree) -> None:
    target = f"{_MANAGER}/Actions/Manager.Reset"

    def show() -> Body:
        return {
            "ManagerType": "BMC",
            "DateTime": tell_time(board.now()),
            "Links": {"ManagerForServers": [link(_SYSTEM)], "ManagerForChassis": [link(_CHASSIS)]},
            "Oem": {"Sim": {"LinkHealthMonitor": link(_MONITOR)}},
            "Actions": {"#Manager.Reset": {"target": target, "ResetType@Redfish.AllowableValues": list(_RESTARTS)}},
            "Status": {"State": "Enabled", "Health": "OK"},
        }

    tree.collect(f"{ROOT}/Managers", "Manager", ["1"])
    tree.add(_MANAGER, "Manager.v1_20_0.Manager", show)
    tree.act(target, partial(_restart, board))


def _restart(board: Board, body: Body) -> Deed:
    refuse_others(body, "ResetType")
    take_word(body, "ResetType", _RESTARTS)
    return lambda: board.restart(AWAY_S, STARTING_S)
