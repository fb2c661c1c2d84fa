"""`supernodectl pki`: the authority of a cluster, keys and certificates of its nodes and broker; works without a daemon."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import msgspec

from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Table, print_sheet
from supernoded.ctl.wording import say_when
from supernoded.messages import SCHEMA
from supernoded.pki.office import DAY, Issued, Office

CA_DAYS, NODE_DAYS = 3650.0, 365.0

_days = click.FloatRange(min=1.0, max=36_500.0)
dir_option = click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="SUPERNODED_PKI",
    default=Path("pki"),
    show_default=True,
    help="The authority's folder; also by $SUPERNODED_PKI.",
)
broker_option = click.option("--broker", is_flag=True, help="NAME is a broker, not a node.")


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--name", "cluster", default="c0", show_default=True, help="The cluster, as in its nodes' settings.")
@click.option("--days", type=_days, default=CA_DAYS, show_default=True, help="How long the authority's certificate counts.")
@click.option("--force", is_flag=True, help="Throw away the authority that is there.")
@common
@click.pass_obj
def init(invocation: Invocation, folder: Path, cluster: str, days: float, force: bool) -> None:
    """Begin the authority of a cluster in DIR."""
    Office(folder, time.time()).found(cluster, days, force=force)
    facts = {"folder": str(folder), "cluster": cluster, "authority": str(folder / "ca.crt")}
    _tell(invocation, facts, [f"{folder}: authority of the cluster {cluster}; next: supernodectl pki issue NODE --dir {folder}"])


@click.command()
@click.argument("name", metavar="NODE")
@dir_option
@click.option("--days", type=_days, default=NODE_DAYS, show_default=True, help="How long its certificate counts.")
@click.option("--host", "hosts", multiple=True, help="A name or address that it is reached by; may be given again.")
@broker_option
@click.option("--at", default="", help="The folder in which that machine will keep its files.")
@click.option("--force", is_flag=True, help="Also where it has a certificate that counts, which is revoked.")
@common
@click.pass_obj
def issue(invocation: Invocation, name: str, folder: Path, days: float, hosts: Sequence[str], broker: bool, at: str, force: bool) -> None:
    """Make the key and certificate of NODE, with what goes into its settings."""
    office = Office(folder, time.time())
    _tell_issued(invocation, office, office.issue(name, days, hosts=hosts, broker=broker, at=at, force=force))


@click.command()
@click.argument("name", metavar="NODE")
@dir_option
@click.option("--days", type=_days, default=NODE_DAYS, show_default=True, help="How long its certificate counts.")
@broker_option
@common
@click.pass_obj
def rotate(invocation: Invocation, name: str, folder: Path, days: float, broker: bool) -> None:
    """Make a new key and certificate for NODE; the old one is revoked. Copy the node's files first, then crl.pem to all."""
    office = Office(folder, time.time())
    _tell_issued(invocation, office, office.rotate(name, days, broker=broker))


@click.command()
@click.argument("name", metavar="NODE")
@dir_option
@broker_option
@common
@click.pass_obj
def revoke(invocation: Invocation, name: str, folder: Path, broker: bool) -> None:
    """Let the certificates of NODE count no more. It takes effect where the new crl.pem is copied to."""
    gone = Office(folder, time.time()).revoke(name, broker=broker)
    facts = {"revoked": [_describe(one) for one in gone], "list": str(folder / "crl.pem")}
    serials = ", ".join(one.serial for one in gone)
    _tell(
        invocation, facts, [f"{name}: revoked (serial {serials}); copy {folder / 'crl.pem'} to every node and the broker, and SIGHUP that"]
    )


@click.command("list")
@dir_option
@common
@click.pass_obj
def list_issued(invocation: Invocation, folder: Path) -> None:
    """Show what was issued, to whom, and until when it counts."""
    now, register = time.time(), Office(folder, time.time()).read()
    rows = [
        (one.name, "broker" if one.broker else "node", _say_state(one, now), say_when(one.ends, now), one.serial) for one in register.issued
    ]
    table = Table(("NAME", "KIND", "STATE", "ENDS", "SERIAL"), rows, empty="nothing was issued yet")
    if invocation.as_json:
        _tell(invocation, {"cluster": register.cluster, "issued": [_describe(one) for one in register.issued]}, [])
    else:
        print_sheet([f"cluster {register.cluster}", table])


def _tell_issued(invocation: Invocation, office: Office, made: Issued) -> None:
    folder = office.find_folder(made.name, broker=made.broker)
    whom, what = (
        ("mosquitto", "mosquitto.conf is its listener") if made.broker else ("the daemon", "supernoded.toml goes into its settings")
    )
    lines = [f"{folder}: copy it to {made.at} on {made.name}, readable to {whom}'s user alone; {what}"]
    if not made.broker:
        lines += ["files that are renewed count within a minute; crl.pem is to be copied to every node and the broker when it changes"]
    _tell(invocation, {"folder": str(folder), **_describe(made)}, lines)


def _describe(one: Issued) -> dict[str, object]:
    return {name: getattr(one, name) for name in one.__struct_fields__}


def _say_state(one: Issued, now: float) -> str:
    if one.revoked is not None:
        return f"revoked {say_when(one.revoked, now)}"
    days = (one.ends - now) / DAY
    return f"{days:.0f} days left" if days > 0.0 else "ran out"


def _tell(invocation: Invocation, facts: Mapping[str, object], lines: Sequence[str]) -> None:
    if invocation.as_json:
        click.echo(msgspec.json.format(msgspec.json.encode({"schema": SCHEMA, **facts}), indent=2))
        return
    for line in lines:
        click.echo(line)
