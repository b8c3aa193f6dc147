"""All errors that mcugen raises on purpose. Each states what is wrong, where, the values, and what to do.

McugenError
  UsageError              2   an option, board or configuration is wrong
  ModelError              3   the model file cannot be used
    CorruptModelError         the bytes are not a model, or are damaged
    UnsupportedError          lists every unsupported node, not only the first
    ShapeError                shapes contradict each other
    QuantizationError         scales or zero points are missing, out of range or contradictory
  TargetError             4   the model is fine, but the target is too small or lacks a kernel
    NoKernelError             lists each kernel with the rule that excludes it
    MemoryBudgetError         which limit is exceeded, by how much, and what would fit
  ToolError               5   gcc or qemu is missing or failed; its output is attached
  InternalError          70   a check of mcugen itself failed: a defect of mcugen

The numbers are exit codes.
"""

from __future__ import annotations


class McugenError(Exception):
    """Base of all expected failures. `str()` gives the message, `hint` the advice."""

    exit_code = 1
    advice = "see `mcugen --help`"
    """The hint of an error that is raised without one."""

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint or self.advice
        if self.hint:  # a Python traceback prints notes after the message
            self.add_note(f"  hint: {self.hint}")

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message

    def explain(self) -> str:
        """The message, then the hint on a line of its own."""
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
    """The bytes are not a model, or are damaged."""

    advice = "write the file again with the tool that made it, or download it again"


class UnsupportedError(ModelError):
    """The model uses something that mcugen does not support; the message lists every such node."""

    advice = "change this part of the model; `mcugen ops` lists the operators, docs/models.md what mcugen reads"


class ShapeError(ModelError):
    """Shapes contradict each other or an operator's rules."""

    advice = "export the model with matching shapes; --input-shape sets sizes that the file leaves open"


class QuantizationError(ModelError):
    """Scales or zero points are missing, out of range or contradictory."""

    advice = "quantize the float model again, e.g. with `mcugen quantize`"


class TargetError(McugenError):
    """The model is fine, but the target is too small or lacks a kernel."""

    exit_code = 4
    advice = "choose another board (`mcugen boards` lists them)"


class NoKernelError(TargetError):
    """No kernel accepts a node. The message lists each kernel with the rule that excludes it."""

    advice = (
        "switch the core feature back on, or quantize the model to types that the board has kernels for: `mcugen ops`"
    )


class MemoryBudgetError(TargetError):
    """The model does not fit the board. The message gives the limit, by how much it is exceeded, and what would fit."""

    advice = "take a larger board, or --optimize ram"


class ToolError(McugenError):
    """An external program is missing or failed. `output` holds what it printed."""

    exit_code = 5
    advice = "install the tool, or see what it printed"

    def __init__(self, message: str, *, where: str = "", hint: str = "", output: str = "") -> None:
        super().__init__(message, where=where, hint=hint)
        self.output = output

    def explain(self) -> str:
        text = super().explain()
        return f"{text}\n{self.output.rstrip()}" if self.output else text


class InternalError(McugenError):
    """A check of mcugen itself failed: a defect of mcugen, not of the model or the user."""

    exit_code = 70

    def __init__(self, message: str, *, where: str = "") -> None:
        super().__init__(
            message,
            where=where,
            hint="please report this with the model (or its `mcugen inspect --ir` dump) attached",
        )
