"""Lines of the protocol: quotes, escapes, refusals, lists that end and lists that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import WireError
from supernoded_nut.words import MOST_LIST, RefusalError, end_of_list, read_answer, read_list, split_words, write_line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('VAR a ups.model "A \\"quoted\\" \\\\ \\# model"\n', ["VAR", "a", "ups.model", 'A "quoted" \\ # model']),
        ('VAR a ups.status ""', ["VAR", "a", "ups.status", ""]),
        ("  OK   TRACKING\tx \r\n", ["OK", "TRACKING", "x"]),
        ("", []),
        ('VAR a b "open', None),
        ('VAR a b "shut"open', None),
        ('"\\', None),
        ("a\\b", None),
    ],
)
def test_words_of_a_line(line: str, words: list[str] | None) -> None:
    assert split_words(line) == words


@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"], include_characters=' "\\#'), min_size=1), min_size=1))
def test_what_is_written_is_read(words: list[str]) -> None:
    assert split_words(write_line(*words).decode()) == words


@given(st.text())
def test_any_text_has_words_or_has_none(text: str) -> None:
    words = split_words(text)
    assert words is None or all(isinstance(word, str) for word in words)


@pytest.mark.parametrize("word", ["a\nFSD a", "\r", "\x00"])
def test_a_word_cannot_end_the_line(word: str) -> None:
    with pytest.raises(WireError, match="control character") as caught:
        write_line("PASSWORD", word)
    assert "FSD" not in str(caught.value)


def test_a_refusal_says_what_to_do() -> None:
    with pytest.raises(
        RefusalError, match=r"h:1: INSTCMD a load\.off was refused: ACCESS-DENIED; look at user and password_file"
    ) as caught:
        read_answer("h:1: INSTCMD a load.off", b"ERR ACCESS-DENIED\n")
    assert caught.value.code == "ACCESS-DENIED"


@pytest.mark.parametrize("answer", [b"\n", b'"\n', b'\xff\xfe"\n'])
def test_what_is_no_answer_is_told(answer: bytes) -> None:
    with pytest.raises(WireError, match="is this a NUT server"):
        read_answer("GET", answer)


LIST = b'BEGIN LIST VAR a\nVAR a x "1"\nVAR a y "2 \\"END LIST VAR a\\""\nEND LIST VAR a\n'


def test_a_list_ends_at_its_last_line_wherever_it_is_cut() -> None:
    for cut in range(len(LIST)):
        find = end_of_list("VAR a")
        assert find(LIST[:cut]) is None
        assert find(LIST) == slice(len(LIST))
    assert read_list("LIST", "VAR a", LIST) == [["x", "1"], ["y", '2 "END LIST VAR a"']]


def test_an_empty_list() -> None:
    answer = b"BEGIN LIST CMD a\nEND LIST CMD a\n"
    assert end_of_list("CMD a")(answer) == slice(len(answer))
    assert read_list("LIST", "CMD a", answer) == []


def test_a_refusal_ends_a_list() -> None:
    find = end_of_list("VAR a")
    assert find(b"ERR DATA-ST") is None
    assert find(b"ERR DATA-STALE\n") == slice(15)
    with pytest.raises(RefusalError, match="its driver has lost the device"):
        read_list("LIST VAR a", "VAR a", b"ERR DATA-STALE\n")


def test_rows_that_are_none_are_left_out() -> None:
    answer = b'BEGIN LIST VAR a\nVAR b x "1"\nVAR a "open\n\nVAR a\nVAR a ok "2"\nEND LIST VAR a\n'
    assert read_list("LIST", "VAR a", answer) == [["ok", "2"]]


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n", b"BEGIN LIST VAR other\nVAR other x 1\n", b"\x16\x03\x01" * 20])
def test_another_answer_is_not_waited_for(answer: bytes) -> None:
    with pytest.raises(WireError, match="is this a NUT server"):
        end_of_list("VAR a")(answer)


def test_a_list_without_an_end_is_given_up() -> None:
    with pytest.raises(WireError, match=f"more than {MOST_LIST} bytes"):
        end_of_list("VAR a")(b"BEGIN LIST VAR a\n" + b'VAR a x "1"\n' * (MOST_LIST // 10))


@given(st.binary())
def test_any_bytes_are_a_list_or_are_told(answer: bytes) -> None:
    try:
        assert read_list("LIST", "VAR a", answer) is not None
    except WireError:
        assert answer.startswith(b"ERR")
