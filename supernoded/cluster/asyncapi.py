"""The AsyncAPI description of the topics, made from the types: `python -m supernoded.cluster.asyncapi > docs/asyncapi.yaml`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from supernoded.cluster import topics
from supernoded.cluster.commands.words import Command, Reply
from supernoded.cluster.topics import (
    ROOT,
    SCHEMA,
    Beat,
    Digest,
    EventTold,
    FleetTold,
    HoldTold,
    JobsTold,
    OutcomeTold,
    Payload,
    Presence,
    RoleView,
    Sealed,
)

Node = Mapping[str, "Node"] | Sequence["Node"] | str | int | float | bool | None


class Channel(NamedTuple):
    """One kind of topic. `body` is what is sealed in its payload, where it is sealed."""

    type_: type[Payload]
    how: str
    address: str  # below the cluster
    body: type[msgspec.Struct] | None = None


CHANNELS: Mapping[str, Channel] = {
    "presence": Channel(Presence, "QoS 1, retained; the will says offline", "node/{node}/presence"),
    "beat": Channel(Beat, "QoS 1, once a second, expires after 3 s", "node/{node}/beat"),
    "digest": Channel(Digest, "QoS 0, every 5 s and on change, in as many messages as it takes", "node/{node}/digest"),
    "event": Channel(EventTold, "QoS 1, at least once, in order, from the durable outbox", "node/{node}/event"),
    "outcome": Channel(OutcomeTold, "QoS 1, at least once, in order, from the durable outbox", "node/{node}/outcome"),
    "jobs": Channel(JobsTold, "QoS 1, retained, on change: where orders to a job go", "node/{node}/jobs"),
    "hold": Channel(HoldTold, "QoS 1, retained, one topic for each hold; once lifted it stays lifted", "node/{node}/hold/{hold}"),
    "fleet": Channel(FleetTold, "QoS 0, retained, every 5 s from the holder of the role fleet, in parts", "node/{node}/fleet/{part}"),
    "role": Channel(RoleView, "QoS 1, retained, from the holder of the role", "role/{role}/view"),
    "command": Channel(
        Sealed, "QoS 1, expires with the command; response topic and correlation data say where the answer goes", "command/{node}", Command
    ),
    "answer": Channel(Sealed, "QoS 1, expires with the command; to the node that has asked", "node/{node}/answer", Reply),
}
_PARAMETERS = {
    "cluster": "the cluster of the settings",
    "node": "the node's name",
    "hold": "the hold's id",
    "part": "a number, from 0 on",
    "role": "the role, of one level or two: fleet, cdu/0",
}


def describe() -> dict[str, Node]:
    """The whole document."""
    types: list[type[msgspec.Struct]] = [channel.type_ for channel in CHANNELS.values()]
    types += [channel.body for channel in CHANNELS.values() if channel.body is not None]
    operations: dict[str, Node] = {f"say_{leaf}": {"action": "send", "channel": {"$ref": f"#/channels/{leaf}"}} for leaf in CHANNELS}
    _, schemas = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "supernoded",
            "version": f"{SCHEMA}",
            "description": f"Generated. MQTT 5, JSON of at most {topics.MAX_PAYLOAD} bytes; a payload of another schema number is refused.",
        },
        "channels": {leaf: _describe_channel(channel) for leaf, channel in CHANNELS.items()},
        "operations": operations,
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _describe_channel(channel: Channel) -> Node:
    name = channel.type_.__name__
    address = f"{ROOT}/{{cluster}}/{channel.address}"
    payload: Node = {"schemaFormat": "application/schema+json;version=draft-2020-12", "schema": {"$ref": f"#/components/schemas/{name}"}}
    sealed = f"; its body is the JSON of a {channel.body.__name__}" if channel.body is not None else ""
    return {
        "address": address,
        "description": channel.how + sealed,
        "parameters": {level: {"description": _PARAMETERS[level]} for level in re.findall(r"{(\w+)}", address)},
        "messages": {name: {"contentType": "application/json", "payload": payload}},
    }


def to_yaml(node: Node, indent: int = 0) -> Iterator[str]:
    """Lines of block YAML. Scalars and keys stand in JSON, which YAML 1.2 includes."""
    pad = "  " * indent
    items = node.items() if isinstance(node, Mapping) else [("-", item) for item in node] if isinstance(node, list | tuple) else []
    for key, value in items:
        head = f"{pad}- " if key == "-" else f"{pad}{_key(key)}: "
        if isinstance(value, Mapping | list | tuple) and value:
            yield head.rstrip()
            yield from to_yaml(value, indent + 1)
        else:
            yield f"{head}{json.dumps(value)}"


def _key(name: str) -> str:
    return name if name.replace("_", "a").isalnum() else json.dumps(name)


def document() -> str:
    """What docs/asyncapi.yaml holds."""
    return "\n".join(to_yaml(describe())) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
