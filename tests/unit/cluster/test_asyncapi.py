from __future__ import annotations

from pathlib import Path

from supernoded.cluster import asyncapi, topics


def test_the_file_is_what_the_types_say(checkout: Path) -> None:
    written = (checkout / "docs" / "asyncapi.yaml").read_text(encoding="utf-8")
    assert written == asyncapi.document(), "run: python -m supernoded.cluster.asyncapi > docs/asyncapi.yaml"


def test_every_channel_has_its_address_and_its_type() -> None:
    document = asyncapi.describe()
    channels, components = document["channels"], document["components"]
    assert isinstance(channels, dict)
    assert isinstance(components, dict)
    schemas = components["schemas"]
    assert isinstance(schemas, dict)
    for leaf, (type_, _) in asyncapi.CHANNELS.items():
        channel = channels[leaf]
        assert isinstance(channel, dict)
        assert channel["address"] == topics.of_node("CLUSTER", "NODE", leaf).replace("CLUSTER", "{cluster}").replace("NODE", "{node}")
        assert type_.__name__ in schemas


def test_yaml() -> None:
    text = "\n".join(asyncapi.to_yaml({"a": [1, {"b": "x: y"}], "$ref": None, "e": {}}))
    assert text == 'a:\n  - 1\n  -\n    b: "x: y"\n"$ref": null\ne: {}'
