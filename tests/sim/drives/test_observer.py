"""What the observer at the broker writes down of what daemons say."""

from __future__ import annotations

import asyncio

from sim_hardware.drives.observer import Observer
from sim_hardware.fabric import Broker
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from sim_hardware.net import Net
from supernoded.chaos.drive import Told
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import EventTold, OutcomeTold
from supernoded.model import Event, Outcome, Result, Severity

EVENT = Event(id="e1", kind="link.ber", subject="p", scope="node", raised=True, text="bad", at=1.0, severity=Severity.WARNING)


def outcome(id_: str, result: Result) -> OutcomeTold:
    done = Outcome(action=id_, result=result, text="the file is there", at=2.0)
    return OutcomeTold(node="n0", life="1", at=2.0, outcome=done, kind="notify", target="p", reason="reseat it")


def test_events_and_what_is_done_are_written_down_once() -> None:
    loop, heard = SimLoop(1), list[Told]()

    async def main() -> None:
        broker = Broker(Net(loop))
        broker.start()
        observer = Observer(broker, "c0", loop.time, lambda: None)

        async def say() -> None:
            await observer.listening.wait()
            async with broker.connect("n0", Message(topic="n0/gone", payload=b"")) as link:
                for _ in range(2):
                    event = topics.encode(EventTold(node="n0", life="1", at=1.0, event=EVENT))
                    await link.publish(Message(topic=topics.event("c0", "n0"), payload=event, qos=1))
                    for one in (outcome("i1/a", Result.REFUSED), outcome("i1/b", Result.DONE)):
                        await link.publish(Message(topic=topics.outcome("c0", "n0"), payload=topics.encode(one), qos=1))

        loop.spawn("observer", observer.run)
        loop.spawn("n0", say)
        await asyncio.sleep(5.0)
        heard.extend(observer.told)

    with virtual_time(loop):
        loop.run_until_complete(main())
    assert [(one.kind, one.subject, one.raised, one.text) for one in heard] == [
        ("link.ber", "p", True, "bad"),
        ("action.notify", "p", True, "reseat it"),
    ]
