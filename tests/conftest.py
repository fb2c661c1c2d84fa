"""What tests of several folders share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: two tests on one core are slow now and then, and no test here judges by time.
settings.register_profile("house", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("house")


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture
def recordings() -> Path:
    """The folder of recordings by other people, which are not ours to publish."""
    folder = os.environ.get("SUPERNODED_FIXTURES", "")
    if not folder:
        pytest.skip("SUPERNODED_FIXTURES is not set: it names the folder of third-party recordings")
    return Path(folder)
