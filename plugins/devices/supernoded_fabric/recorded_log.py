"""This plugin's part of the replay format `kernel-log`."""

from __future__ import annotations

from collections.abc import Iterator

from supernoded.plugin import Reading, Source, make_reading
from supernoded_fabric.kernel_lines import Said, read_line
from supernoded_fabric.kernel_state import KernelState
from supernoded_fabric.naming import Naming, Places
from supernoded_fabric.stamps import Stamps, is_stamped


def read_kernel_log(source: Source) -> Iterator[Reading]:
    """What was said of links and adapters, each finding when it was said.

    A log that says nothing of them, as most do, is read all the same: then how many lines it has is the reading.
    A link that is first heard of in the log was down 0 times when the log began, so that a burst at once is one.
    """
    state, stamps = KernelState(Places(Naming(source.node, {})).subject), Stamps(source.at)
    lines = source.data.decode(errors="replace").splitlines()
    told = [said for line in lines if (said := read_line(line)) is not None]
    stamped = sum(map(is_stamped, lines))
    if stamped and not told:
        yield make_reading(source.node, "x.fabric.log_lines", float(stamped), "1", source.at)
    yield from _list_first(told, source)
    for line in lines:
        at, said = stamps.read(line), read_line(line)
        changed = state.expire(at)
        if said is not None:
            changed.append(state.take(said, at))
        if changed:
            at = stamps.tick()
        for subject in dict.fromkeys(changed):
            yield from state.show_one(subject, at)


def _list_first(told: list[Said], source: Source) -> Iterator[Reading]:
    """Every link that the log tells of, before it does."""
    state = KernelState(Places(Naming(source.node, {})).subject)
    for said in told:
        state.take(said, source.at)
    for reading in state.show(source.at):
        if reading.quantity == "link.downed":
            yield make_reading(reading.subject, "link.downed", 0.0, "1", source.at)
