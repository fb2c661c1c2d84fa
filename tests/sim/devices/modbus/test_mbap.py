"""TCP frames."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.devices.modbus.mbap import MbapError, Stream, TcpAdu, encode_tcp

adus = st.builds(TcpAdu, st.integers(0, 65535), st.integers(0, 255), st.binary(min_size=1, max_size=253))


@given(st.lists(adus, max_size=5), st.integers(1, 40))
def test_frames_come_back_however_the_stream_was_cut(sent: list[TcpAdu], size: int) -> None:
    data, stream, found = b"".join(map(encode_tcp, sent)), Stream(), list[TcpAdu]()
    for place in range(0, len(data), size):
        found += stream.feed(data[place : place + size])
    assert found == sent


@given(st.binary(max_size=600))
def test_any_bytes_are_frames_or_an_error(data: bytes) -> None:
    try:
        found = Stream().feed(data)
    except MbapError as error:
        assert "protocol 0 and a length of 2 to 254 are due" in str(error)
    else:
        assert data.startswith(b"".join(map(encode_tcp, found)))


@pytest.mark.parametrize("head", [b"\0\1\0\1\0\6\1", b"\0\1\0\0\0\1\1", b"\0\1\0\0\0\xff\1"])
def test_what_is_no_frame_is_refused_at_its_head(head: bytes) -> None:
    with pytest.raises(MbapError):
        Stream().feed(head)
