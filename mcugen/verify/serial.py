"""A serial line to firmware that answers `mcugen validate`, with checksums on requests and answers."""

from __future__ import annotations

import errno
import os
import select
import stat
import struct
import time
import zlib
from contextlib import suppress
from types import TracebackType

from mcugen.errors import ToolError, UsageError
from mcugen.machines.toolchain import hosts

_REQUEST, _ANSWER = 0xA5, 0x5A
_LARGEST = 1 << 28
_AGAIN = 2
_QUIET_S = 0.1
_HINT = "give the serial port of the board, e.g. /dev/ttyACM0"


def require_port(port: str) -> None:
    """Raise UsageError, before any work, if the port does not exist or cannot be waited for."""
    if not hosts.current().serial:
        hint = "use Linux or macOS; under WSL, attach the port with usbipd"
        raise UsageError("this system cannot wait for data on serial ports", where="--port", hint=hint)
    try:
        if stat.S_ISREG(os.stat(port).st_mode):  # a request would overwrite the file
            raise UsageError(f"{port!r} is a file, not a serial line", where="--port", hint=_HINT)
    except (OSError, ValueError) as error:
        raise _closed(port, error) from error


def _closed(port: str, error: OSError | ValueError) -> UsageError:
    reason = getattr(error, "strerror", None) or str(error)
    return UsageError(f"cannot open {port!r}: {reason}", where="--port", hint=_HINT)


class _Lost(ToolError):
    """An answer did not arrive, or arrived damaged."""


class SerialLine:
    """An open serial line. longest: size in bytes of the longest request, of which firmware may still await a part.

    Raises UsageError for a port that cannot be opened, ToolError if no valid answer comes.
    """

    def __init__(self, port: str, baud: int, timeout_s: float, longest: int = 0) -> None:
        self._port, self._timeout_s, self._longest = port, timeout_s, longest
        require_port(port)
        try:
            # Non-blocking: opening a line without a carrier, or writing to a board that reads nothing, would otherwise
            # block for ever.
            self._file = os.open(port, os.O_RDWR | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_NONBLOCK", 0))
        except (OSError, ValueError) as error:
            raise _closed(port, error) from error
        _make_raw(self._file, baud)

    def __enter__(self) -> SerialLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._file)

    def ask(self, letter: str, payload: bytes = b"") -> bytes:
        """The firmware's answer to a request. If bytes are lost or damaged, the request is repeated, at most twice."""
        try:
            for _ in range(_AGAIN):
                with suppress(_Lost):
                    return self._ask(letter, payload)
                with suppress(_Lost):
                    self._clear()
            return self._ask(letter, payload)
        except OSError as error:
            raise ToolError(
                f"the serial line failed: {error.strerror}", where=self._port, hint="plug the board in, and start it"
            ) from error

    def _clear(self) -> None:
        """Complete a request that the firmware may be waiting for, and discard what arrives.

        Such a request lost bytes, or was left by an earlier command. Firmware that waits for nothing skips the zeros
        sent here.
        """
        self._send(bytes(self._longest))
        while select.select([self._file], [], [], _QUIET_S)[0] and os.read(self._file, 4096):
            pass

    def _ask(self, letter: str, payload: bytes) -> bytes:
        body = letter.encode() + struct.pack("<I", len(payload)) + payload
        asked = struct.pack("<I", zlib.crc32(body))
        self._send(bytes([_REQUEST]) + body + asked)
        end = time.monotonic() + self._timeout_s
        while True:
            kind, answer = self._answer(end)
            if kind == b"E":
                raise self._failed("the request arrived damaged")
            if kind == letter.encode() and answer[:4] == asked:  # otherwise this is a late answer to an earlier request
                return answer[4:]

    def _answer(self, end: float) -> tuple[bytes, bytes]:
        """The next answer: its letter and its bytes."""
        while self._read(1, end)[0] != _ANSWER:
            pass
        head = self._read(5, end)
        size = int.from_bytes(head[1:], "little")
        if size > _LARGEST:
            raise self._failed("the answer is not of this protocol")
        answer = self._read(size, end)
        if int.from_bytes(self._read(4, end), "little") != zlib.crc32(head + answer):
            raise self._failed("the answer arrived damaged")
        return head[:1], answer

    def _send(self, data: bytes) -> None:
        while data:
            if not select.select([], [self._file], [], self._timeout_s)[1]:
                raise self._failed(f"the board accepted no byte within {self._timeout_s:g} s")
            data = data[os.write(self._file, data) :]

    def _read(self, size: int, end: float) -> bytes:
        found = b""
        while len(found) < size:
            ready, _, _ = select.select([self._file], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise self._failed(f"no answer within {self._timeout_s:g} s")
            data = os.read(self._file, size - len(found))
            if not data:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            found += data
        return found

    def _failed(self, why: str) -> _Lost:
        hint = (
            "see README-validate.md of `--export validate`; check --baud, that no other program uses the port, and "
            "that the firmware was built with this version of mcugen; then reset the board"
        )
        return _Lost(why, where=self._port, hint=hint)


def _make_raw(file: int, baud: int) -> None:
    """If the port is a terminal: switch off its processing of bytes, and set its speed."""
    with suppress(ImportError):  # without termios the port keeps its settings
        import termios
        import tty

        with suppress(termios.error):  # not a terminal, e.g. a pipe: it has no settings
            tty.setraw(file)
            speed = getattr(termios, f"B{baud}", None)
            if speed is None:
                raise UsageError(f"this system does not support {baud} baud", where="--baud", hint="try 115200")
            settings = termios.tcgetattr(file)
            settings[2] = (settings[2] | termios.CLOCAL | termios.CREAD) & ~getattr(termios, "CRTSCTS", 0)
            settings[4] = settings[5] = speed
            termios.tcsetattr(file, termios.TCSANOW, settings)
            termios.tcflush(file, termios.TCIOFLUSH)
