"""The table `[plugins.isolation]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

Looks = Annotated[int, msgspec.Meta(ge=1, le=100)]
Tries = Annotated[int, msgspec.Meta(ge=1, le=10)]
Seconds = Annotated[float, msgspec.Meta(ge=1, le=3600)]
Long = Annotated[float, msgspec.Meta(ge=0, le=2_592_000)]


class IsolationSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What codes mean on this site, when a card counts as lost, and what it takes to replace one; numbers without a source are ours."""

    fault_codes: str = ""  # path of the site's own table, JSON or TOML: level -> codes; it wins over ours
    chips: Mapping[str, tuple[str, ...]] = {}  # shell pattern over card.chip -> codes and words that are normal there
    lost_polls: Looks = 3  # looks in a row without a word of a card whose siblings report
    settle_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 300.0  # seconds after the boot in which a card may still be missing
    # evidence
    hang_looks: Looks = 2  # looks in a row at which the tool has no answer for a card, or does not see it, while its siblings are read
    code_looks: Looks = 3  # looks in a row at which a code that takes a card out stands alone: a second look, two polls later
    common_s: Seconds = 30.0  # suspects within so many seconds that share a job, loop, feed or cable share the cause (fleet row 20)
    software_s: Seconds = (
        120.0  # seconds a job stands still with several of its cards in trouble until those that are plainly ill are blamed
    )
    memory_s: Seconds = 3600.0  # seconds for which uncorrected memory errors that were seen to come speak against a card
    again_s: Long = 3600.0  # a process that was blamed speaks against its card when the rank is silent there again within these seconds
    history_s: Long = 604_800.0  # the same of a card that was blamed itself
    unnamed_s: Seconds = 300.0  # seconds a job stands still with all ranks at one step and no card to blame until it counts as hanging
    timed_out_s: Seconds = 30.0  # the same where its collective library has logged time-outs since: that is no pause
    restart_idle: bool = False  # start it anew even where all its cards are idle and it has never told a phase: it may pause
    slow_z: Annotated[float, msgspec.Meta(ge=2, le=100)] = 5.0  # robust z-score of a straggler; normal noise of 8 ranks stays below 4
    slow_percent: Annotated[float, msgspec.Meta(ge=1, le=100)] = 10.0  # a straggler is at least so much slower than the median, too
    slow_steps: Annotated[int, msgspec.Meta(ge=2, le=1000)] = 5  # steps over which it is one
    leak_lead_s: Annotated[float, msgspec.Meta(ge=60, le=86_400)] = 3600.0  # memory that will be full within so many seconds is told (H10)
    leak_window_s: Annotated[float, msgspec.Meta(ge=60, le=3600)] = 600.0  # its slope is measured over this
    ecc_per_hour: Annotated[float, msgspec.Meta(ge=1, le=1e9)] = 100.0  # corrected memory errors of a card in an hour that are many
    ecc_times: Annotated[float, msgspec.Meta(ge=1, le=1e6)] = 10.0  # and so many times its usual hour
    # what is done
    checkpoint_s: Seconds = 120.0  # the longest that a card which is alive is left in service for a checkpoint
    capture_s: Seconds = 10.0  # for the bundle of evidence; nothing waits for it
    # Longer than a minute, twice for a hold: where guards refuse more actions in this one, the job must not be left without its new map.
    hold_s: Seconds = 40.0  # for a grant and a hold
    order_s: Seconds = 75.0  # for each of fence, abort and new rank map
    test_s: Seconds = 90.0  # for a test; `hooks.test_s` bounds it
    restore_s: Seconds = 300.0  # for the ranks to restore and step again
    spare_tries: Tries = 3  # spares that may fail their test for one card
    spare_wait_s: Seconds = 300.0  # for spares that are only not heard, or do not answer, before a replica is given up
    undo_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = (
        600.0  # a shared cause that is named within so many seconds undoes an isolation
    )
    retest_s: Long = 3600.0  # seconds after a test that failed until the same card is tested again; another serial number is at once
    probation_s: Long = 600.0  # seconds as a watched spare, after a passed test, until the hold is lifted
    drain: bool = False  # drain the node of an isolated card; needs something that can: plugin slurm or kubernetes, or [hooks] drain
    remind_s: Annotated[float, msgspec.Meta(ge=3600, le=2_592_000)] = 604_800.0  # so often people are told of a card that is still out
