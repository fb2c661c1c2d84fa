"""The one exception tree. A message says what, where, the value, the limit and what to do."""

from __future__ import annotations


class SupernodedError(Exception):
    """Anything supernoded raises on purpose."""


class SettingsError(SupernodedError):
    """A settings or topology file cannot be used as it stands."""


class PluginError(SupernodedError):
    """A plugin cannot be loaded, or two of them claim one duty."""


class WireError(SupernodedError, ConnectionError):
    """A device could not be reached, or answered with something else than an answer."""


class StatusError(WireError):
    """An HTTP service answered, with a status that is no success."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class NotHeldError(WireError):
    """The scope's lease no longer stands: not a byte was written."""


class RefusedError(WireError):
    """Whoever was asked said no: nothing was done."""


class FailedError(WireError):
    """It was done to its end and has failed: doing it again would show the same."""


class UnansweredError(WireError):
    """Another node did not answer in time: what was asked may have been done."""


class YieldedError(WireError):
    """Another hand has changed what is turned here: it is left to him until it has been handed back (safety rule 1)."""


class LapsedError(WireError):
    """What was taken no longer stands, and nothing was written: it is to be taken anew, from where it stands now."""


class JournalError(SupernodedError):
    """The journal could not do what it was asked; nothing was acknowledged."""


class FencedError(JournalError):
    """A newer holder has the role: this write was rolled back."""


class SessionError(SupernodedError, ConnectionError):
    """The message broker cannot be reached or has ended the session."""


class PublishDeniedError(SessionError):
    """The broker's access list refused a topic."""


class CertificateRefusedError(SessionError):
    """The TLS handshake failed: one side does not accept the other's certificate."""


class SealError(SupernodedError):
    """No node that may speak has signed it. `sender` is the node whose signature was good all the same, mostly empty."""

    def __init__(self, text: str, sender: str = "") -> None:
        super().__init__(text)
        self.sender = sender


class PkiError(SupernodedError):
    """The folder of an authority cannot be used, or does not allow what was asked of it."""


class VaultError(SupernodedError):
    """A part of a checkpoint is not what it says, or a tier cannot hold it."""


class AdminError(SupernodedError):
    """The daemon refused or could not answer a request of supernodectl."""


class NotFoundError(AdminError):
    """What was asked for does not exist."""


class ChaosError(SupernodedError):
    """A scenario cannot be run as it stands, or the drive cannot do what it says."""
