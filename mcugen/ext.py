"""The interface for plugins: names for packages that add operators, kernels or instruction sets.

These names stay the same from version to version; other modules of mcugen may move. An export needs no Python at all.
"""

from mcugen.boards.isa import Instruction, InstructionSet, Operation, place
from mcugen.errors import QuantizationError, ShapeError, UnsupportedError, UsageError
from mcugen.ir.call import Call, Params, fact
from mcugen.ir.element import Element
from mcugen.ir.imports import Expansion, Import, Imported, Source
from mcugen.ir.kernel import (
    Accumulate,
    Alias,
    Cost,
    Family,
    Grid,
    Join,
    Kernel,
    NDRange,
    Ring,
    RowStorage,
    RowWindow,
    Run,
    Text,
    Whole,
    Window,
)
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ir.writes import Sink, Write

__all__ = [
    "Accumulate",
    "Alias",
    "Call",
    "Cost",
    "Element",
    "Example",
    "Expansion",
    "Family",
    "Grid",
    "Import",
    "Imported",
    "Instruction",
    "InstructionSet",
    "Join",
    "Kernel",
    "NDRange",
    "Op",
    "Operation",
    "Params",
    "QuantParams",
    "QuantizationError",
    "Ring",
    "RowStorage",
    "RowWindow",
    "Run",
    "ShapeError",
    "Sink",
    "Source",
    "TensorType",
    "Text",
    "UnsupportedError",
    "UsageError",
    "Whole",
    "Window",
    "Write",
    "fact",
    "place",
]
