"""SIGHUP: a good file takes effect, a bad one changes nothing, and what is open stays open."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from supernoded.messages import IncidentFilter, Incidents, Modes, ReadingFilter, Readings, Status
from supernoded.model import Mode
from tests.system.daemons import NOBODY, Daemon, write_port


def watching(tree: Path) -> str:
    return f'{NOBODY}[plugins.fabric]\ninfiniband = "{tree}"\nperiod_s = 0.2\n'


async def mode_of_link_ber(daemon: Daemon) -> Mode:
    return next(one.mode for one in (await daemon.ask("modes", Modes)).policies if one.policy == "link_ber")


async def test_a_good_file_takes_effect(tmp_path: Path) -> None:
    write_port(tmp_path / "old", "mlx5_0")
    write_port(tmp_path / "new", "mlx5_9")
    links = ReadingFilter(quantity="link.state", subject="n0/nic/mlx5*")
    async with Daemon(tmp_path, watching(tmp_path / "old")) as daemon:
        await daemon.start()
        await daemon.until("readings", Readings, lambda told: [one.subject for one in told.readings] == ["n0/nic/mlx5_0/port1"], links)
        assert await mode_of_link_ber(daemon) is Mode.OBSERVE
        await daemon.reload(watching(tmp_path / "new"), 'mode = "advise"')
        assert await mode_of_link_ber(daemon) is Mode.ADVISE
        await daemon.until("readings", Readings, lambda told: [one.subject for one in told.readings] == ["n0/nic/mlx5_9/port1"], links)
        assert daemon.told.count("^READY=1$") == 2
        assert await daemon.stop() == 0
        assert daemon.log.count("ERROR|Traceback") == 0


async def test_a_bad_file_is_refused_and_the_old_settings_go_on(tmp_path: Path) -> None:
    async with Daemon(tmp_path, keys='mode = "advise"') as daemon:
        await daemon.start()
        before = await daemon.status()
        await daemon.reload(NOBODY, 'mode = "sleep"')
        refusal = await daemon.told.wait("^STATUS=reload refused: ")
        assert 'line 4: mode = "sleep"' in refusal
        await daemon.log.once('reload refused, the settings in force stay: .*line 4: mode = "sleep"')
        after = await daemon.status()
        assert (after.mode, after.pid, after.started) == (Mode.ADVISE, before.pid, before.started)
        await daemon.reload(NOBODY, 'mode = "observe"')  # and the next good one is taken
        assert (await daemon.until("status", Status, lambda told: told.ready)).mode is Mode.OBSERVE
        assert await daemon.stop() == 0


async def test_a_file_that_only_fails_when_it_is_used_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "no-folder").write_text("")
    async with Daemon(tmp_path, keys='mode = "advise"') as daemon:
        await daemon.start()
        daemon.file.write_text(daemon.file.read_text().replace("[admin]", f'[admin]\nsocket = "{tmp_path}/no-folder/admin.sock"'))
        await daemon.reload_file()
        await daemon.log.wait("reload refused, the settings in force stay: .*no-folder")
        assert (await daemon.until("status", Status, lambda told: told.ready)).mode is Mode.ADVISE
        assert await daemon.stop() == 0


async def test_an_open_incident_survives_and_is_not_opened_twice(tmp_path: Path) -> None:
    tree = tmp_path / "infiniband"
    write_port(tree, "mlx5_0")
    async with Daemon(tmp_path, watching(tree)) as daemon:
        await daemon.start()
        up = ReadingFilter(quantity="link.state", subject="n0/nic/mlx5*")
        await daemon.until("readings", Readings, lambda told: told.readings, up)
        write_port(tree, "mlx5_0", up=False)
        await daemon.until("status", Status, lambda told: told.open_incidents)
        everything = IncidentFilter(all=True)
        [before] = (await daemon.until("incidents", Incidents, lambda told: told.incidents, everything)).incidents
        await daemon.reload(watching(tree), 'mode = "advise"')
        told = await daemon.until("status", Status, lambda told: told.newest_incidents)
        assert [one.id for one in told.newest_incidents] == [before.id]
        read = (await daemon.until("readings", Readings, lambda told: told.readings, up)).readings[0]
        await daemon.until("readings", Readings, lambda told: told.readings[0].at > read.at, up)  # it was judged anew
        assert (await daemon.ask("incidents", Incidents, everything)).incidents == (before,)
        assert await daemon.stop() == 0
    with closing(sqlite3.connect(daemon.journal)) as journal:
        assert journal.execute("SELECT raised FROM events WHERE kind = 'link.down'").fetchall() == [(1,)]
