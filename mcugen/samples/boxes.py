"""The word `nms` of `--decide`: boxes of a detection network, without those that overlap better ones."""

from __future__ import annotations

from dataclasses import dataclass

from mcugen.ops.box_table import ORDERS, BoxTable
from mcugen.ops.mul import Mul
from mcugen.ops.non_max_suppression import NonMaxSuppression
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import DECISION, Word, number, one_of, parameters, whole, yes

MAX_BOXES = 1000


@dataclass(frozen=True)
class Suppression:
    """The parameters of `nms`.

    score: scores must be above it. overlap: largest intersection over union with a better box of the same class.
    most: number of boxes in the result. boxes: the numbers of a box, of ORDERS. objectness: whether a fifth number is
    the score of the box, by which the scores of its classes are multiplied.
    """

    score: float = 0.25
    overlap: float = 0.45
    most: int = 10
    boxes: str = "xywh"
    objectness: bool = False


def best_boxes(front: FrontEnd, x: str, how: Suppression) -> str:
    """Rows (left, top, right, bottom, score, class) [1, most, 6], best score first, then rows of zeros.

    x: the network's output [1, boxes, numbers] or [1, numbers, boxes], as [1, elements]. The shorter axis has the
    numbers of a box: its four, objectness if it is stated, and the scores of its classes. Raises ValueError.
    """
    given, first = front.type(front.given).shape, 5 if how.objectness else 4
    if front.type(x).dtype != "f32" or len(given) != 3 or front.type(x).size != front.type(front.given).size:
        raise ValueError(f"takes boxes [1, boxes, {first} + classes], but gets {front.type(front.given)}")
    y = front.shaped(x, given)
    y = front.node(Transpose((0, 2, 1)), y) if given[1] < given[2] else y
    count, numbers = front.type(y).shape[1:]
    if numbers <= first:
        raise ValueError(f"takes at least {first + 1} numbers of a box, but gets {numbers}: {list(given)}")

    def columns(start: int, width: int) -> str:
        ranges = ((0, 1, 1), (0, count, 1), (start, width, 1))
        return front.node(StridedSlice(ranges, (1, count, width)), y)

    boxes, scores = columns(0, 4), columns(first, numbers - first)
    scores = front.node(Mul(), scores, columns(4, 1)) if how.objectness else scores
    scores = front.node(Transpose((0, 2, 1)), scores)
    op = NonMaxSuppression(min(how.most, count), how.overlap, how.score, how.boxes == "xywh")
    return front.node(BoxTable(how.most, how.boxes), front.node(op, boxes, scores), boxes, scores)


def _share(text: str) -> float:
    found = number(text)
    if not 0 <= found <= 1:
        raise ValueError(f"expected a number from 0 to 1, found {text!r}")
    return found


_READERS = {
    "score": _share,
    "overlap": _share,
    "most": whole(1, MAX_BOXES),
    "boxes": one_of(ORDERS),
    "objectness": yes,
}


def _suppression(text: str) -> Suppression:
    return Suppression(**parameters(text, _READERS))


WORD = Word(
    "nms(score=S,overlap=O,...)",
    "boxes of the best scores, none of which overlaps a better one of its class by more than O",
    DECISION,
    best_boxes,
    _suppression,
)
