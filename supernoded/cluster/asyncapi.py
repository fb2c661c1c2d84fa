"""The AsyncAPI description of the topics, made from the types: `python -m supernoded.cluster.asyncapi > docs/asyncapi.yaml`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.cluster import topics
from supernoded.cluster.topics import ROOT, SCHEMA, Beat, Digest, EventTold, OutcomeTold, Payload, Presence

Node = Mapping[str, "Node"] | Sequence["Node"] | str | int | float | bool | None

CHANNELS: Mapping[str, tuple[type[Payload], str]] = {
    "presence": (Presence, "QoS 1, retained; the will says offline"),
    "beat": (Beat, "QoS 1, once a second, expires after 3 s"),
    "digest": (Digest, "QoS 0, every 5 s and on change, in as many messages as it takes"),
    "event": (EventTold, "QoS 1, at least once, in order, from the durable outbox"),
    "outcome": (OutcomeTold, "QoS 1, at least once, in order, from the durable outbox"),
}


def describe() -> dict[str, Node]:
    """The whole document."""
    types = [type_ for type_, _ in CHANNELS.values()]
    operations: dict[str, Node] = {f"say_{leaf}": {"action": "send", "channel": {"$ref": f"#/channels/{leaf}"}} for leaf in CHANNELS}
    _, schemas = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "supernoded",
            "version": f"{SCHEMA}",
            "description": f"Generated. MQTT 5, JSON of at most {topics.MAX_PAYLOAD} bytes; a payload of another schema number is refused.",
        },
        "channels": {leaf: _channel(leaf, type_, how) for leaf, (type_, how) in CHANNELS.items()},
        "operations": operations,
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _channel(leaf: str, type_: type[Payload], how: str) -> Node:
    name = type_.__name__
    payload: Node = {"schemaFormat": "application/schema+json;version=draft-2020-12", "schema": {"$ref": f"#/components/schemas/{name}"}}
    return {
        "address": f"{ROOT}/{{cluster}}/node/{{node}}/{leaf}",
        "description": how,
        "parameters": {"cluster": {"description": "the cluster of the settings"}, "node": {"description": "the node's name"}},
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
