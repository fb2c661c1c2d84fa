from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from string import Formatter

import pytest
import yaml

from supernoded.cluster import asyncapi, topics

TOPICS: dict[str, Callable[[str, str], str]] = {
    "presence": topics.presence,
    "beat": topics.beat,
    "digest": topics.digest,
    "event": topics.event,
    "outcome": topics.outcome,
    "jobs": topics.jobs,
    "hold": lambda cluster, node: topics.hold(cluster, node, "h1"),
    "fleet": lambda cluster, node: topics.fleet(cluster, node, 0),
    "role": lambda cluster, _: topics.role_view(cluster, "fleet"),
    "command": topics.command,
    "answer": topics.answer,
}


def test_the_file_is_what_the_types_say(checkout: Path) -> None:
    written = (checkout / "docs" / "asyncapi.yaml").read_text(encoding="utf-8")
    assert written == asyncapi.document(), "run: python -m supernoded.cluster.asyncapi > docs/asyncapi.yaml"


@pytest.mark.parametrize("leaf", asyncapi.CHANNELS)
def test_every_channel_has_its_address_and_its_type(leaf: str) -> None:
    document = yaml.safe_load(asyncapi.document())
    channel, wanted = document["channels"][leaf], asyncapi.CHANNELS[leaf]
    assert channel["address"].format(cluster="c0", node="n0", hold="h1", role="fleet", part=0) == TOPICS[leaf]("c0", "n0")
    assert wanted.type_.__name__ in document["components"]["schemas"]
    named = {name for _, name, _, _ in Formatter().parse(channel["address"]) if name}
    assert channel["parameters"].keys() == named


def test_what_is_sealed_is_described_too() -> None:
    document = yaml.safe_load(asyncapi.document())
    assert {"Command", "Reply", "Action", "Sight"} <= document["components"]["schemas"].keys()
    assert "JSON of a Command" in document["channels"]["command"]["description"]


def test_yaml() -> None:
    text = "\n".join(asyncapi.to_yaml({"a": [1, {"b": "x: y"}], "$ref": None, "e": {}}))
    assert text == 'a:\n  - 1\n  -\n    b: "x: y"\n"$ref": null\ne: {}'
