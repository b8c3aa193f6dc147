"""A serial line to firmware that answers `mcugen validate`: requests and answers with checksums."""

from __future__ import annotations

import os
import select
import stat
import struct
import time
import zlib
from contextlib import suppress
from types import TracebackType

from mcugen.errors import ToolError, UsageError

_REQUEST, _ANSWER = 0xA5, 0x5A
_LARGEST = 1 << 28
_AGAIN = 2
_QUIET_S = 0.1


class _Lost(ToolError):
    """An answer that did not come, or not as it was sent."""


class Line:
    """An open line. Raises UsageError for a port that cannot be opened, ToolError where no right answer comes."""

    def __init__(self, port: str, baud: int, timeout_s: float) -> None:
        self._port, self._timeout_s = port, timeout_s
        hint = "give the port of the board, as /dev/ttyACM0"
        with suppress(OSError):
            if stat.S_ISREG(os.stat(port).st_mode):  # a request would overwrite it
                raise UsageError(f"{port!r} is a file, not a serial line", where="--port", hint=hint)
        try:
            self._file = os.open(port, os.O_RDWR | getattr(os, "O_NOCTTY", 0))
        except OSError as error:
            raise UsageError(f"cannot open {port!r}: {error.strerror}", where="--port", hint=hint) from error
        _make_raw(self._file, baud)

    def __enter__(self) -> Line:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._file)

    def ask(self, letter: str, payload: bytes = b"") -> bytes:
        """What the firmware answers to a request, which is sent again where the line lost or changed something.

        Twice: where bytes of the first were lost, the firmware takes the second for what is missing of it.
        """
        for _ in range(_AGAIN):
            with suppress(_Lost):
                return self._ask(letter, payload)
            self._drain()
        return self._ask(letter, payload)

    def _drain(self) -> None:
        """Read away what still comes of an answer."""
        while select.select([self._file], [], [], _QUIET_S)[0] and os.read(self._file, 4096):
            pass

    def _ask(self, letter: str, payload: bytes) -> bytes:
        body = letter.encode() + struct.pack("<I", len(payload)) + payload
        self._send(bytes([_REQUEST]) + body + struct.pack("<I", zlib.crc32(body)))
        end = time.monotonic() + self._timeout_s
        while self._read(1, end)[0] != _ANSWER:
            pass
        head = self._read(5, end)
        size = int.from_bytes(head[1:], "little")
        if size > _LARGEST:
            raise self._failed("the answer is no answer of this protocol")
        answer = self._read(size, end)
        if int.from_bytes(self._read(4, end), "little") != zlib.crc32(head + answer):
            raise self._failed("the answer was changed on the line")
        if head[:1] != letter.encode():
            raise self._failed("the request was changed on the line" if head[:1] == b"E" else "the answer is another's")
        return answer

    def _send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._file, data) :]

    def _read(self, size: int, end: float) -> bytes:
        found = b""
        while len(found) < size:
            ready, _, _ = select.select([self._file], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self._file, size - len(found)) if ready else b""
            if not data:
                raise self._failed(f"no answer within {self._timeout_s:g} s")
            found += data
        return found

    def _failed(self, why: str) -> _Lost:
        hint = "see README-validate.md of `--export validate`; check --baud and that no other program has the port"
        return _Lost(why, where=self._port, hint=hint)


def _make_raw(file: int, baud: int) -> None:
    """Bytes as they are, at a speed, where the port is a terminal."""
    with suppress(ImportError):  # no termios: the port keeps the settings that it has
        import termios
        import tty

        with suppress(termios.error):  # no terminal: a pipe has no settings
            tty.setraw(file)
            speed = getattr(termios, f"B{baud}", None)
            if speed is None:
                raise UsageError(f"{baud} is no speed that this system knows", where="--baud", hint="try 115200")
            settings = termios.tcgetattr(file)
            settings[4] = settings[5] = speed
            termios.tcsetattr(file, termios.TCSANOW, settings)
            termios.tcflush(file, termios.TCIOFLUSH)
