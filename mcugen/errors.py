"""All errors that mcugen raises on purpose. Each states what is wrong, where, the values, and what to do.

McugenError
  UsageError              2   an option, board or configuration is wrong
  ModelError              3   the model file cannot be used
    CorruptModelError         bytes that are not a model
    UnsupportedError          lists every unsupported node, not the first
    ShapeError                shapes that contradict each other
    QuantizationError         scales or zero points that are missing, out of range or contradictory
  TargetError             4   the model is fine; the target is too small or lacks a kernel
    NoKernelError             each kernel with its failed rule
    MemoryBudgetError         which limit is exceeded, by how much, and what would fit
  ToolError               5   gcc or qemu is missing or failed; its output is attached
  InternalError          70   a verifier failed: a defect of mcugen
"""

from __future__ import annotations


class McugenError(Exception):
    """Base of all expected failures. `str()` is the message; `hint` is the advice."""

    exit_code = 1
    advice = "see `mcugen --help`"
    """The hint where there is no better one."""

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint or self.advice
        if self.hint:  # a traceback ends with its notes
            self.add_note(f"  hint: {self.hint}")

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message

    def explain(self) -> str:
        """The message and, on a line of its own, the hint."""
        return f"{self}\n  hint: {self.hint}" if self.hint else str(self)


class UsageError(McugenError):
    """An option, board name or configuration file is wrong."""

    exit_code = 2
    advice = "see `mcugen COMMAND --help`"


class ModelError(McugenError):
    """The model file cannot be used."""

    exit_code = 3
    advice = "check the model in the tool that wrote it"


class CorruptModelError(ModelError):
    """The bytes are not a model, or are a damaged one."""

    advice = "the file is damaged, or the tool that wrote it is: write or fetch it again"


class UnsupportedError(ModelError):
    """The model uses something that mcugen does not support; the message lists every such node."""

    advice = "change this part of the model; `mcugen ops` lists what there is, docs/models.md what is read"


class ShapeError(ModelError):
    """Shapes that contradict each other or an operator's rules."""

    advice = "export the model with shapes that fit; --input-shape sets those that the file leaves open"


class QuantizationError(ModelError):
    """Scales or zero points that are missing, out of range or contradictory."""

    advice = "quantize the float model again, e.g. with `mcugen quantize`"


class TargetError(McugenError):
    """The model is fine; the target is too small or lacks a kernel."""

    exit_code = 4
    advice = "choose another board of `mcugen boards`"


class NoKernelError(TargetError):
    """No kernel accepts a node; the message lists each kernel with its failed rule."""

    advice = "switch a feature back on, or quantize the model to types that the board has kernels for: `mcugen ops`"


class MemoryBudgetError(TargetError):
    """The model does not fit the board: which limit it exceeds, by how much, and what would fit."""

    advice = "take a larger board, or --optimize ram"


class ToolError(McugenError):
    """An outside program is missing or failed. `output` holds what it printed."""

    exit_code = 5
    advice = "install the tool, or see what it printed"

    def __init__(self, message: str, *, where: str = "", hint: str = "", output: str = "") -> None:
        super().__init__(message, where=where, hint=hint)
        self.output = output

    def explain(self) -> str:
        text = super().explain()
        return f"{text}\n{self.output.rstrip()}" if self.output else text


class InternalError(McugenError):
    """A verifier failed: a defect of mcugen, not of the model or the user."""

    exit_code = 70

    def __init__(self, message: str, *, where: str = "") -> None:
        super().__init__(
            message,
            where=where,
            hint="please report this with the model (or its `mcugen inspect --ir` dump) attached",
        )
