# SPDX-License-Identifier: Apache-2.0
"""Cached results that calls of equal shapes and types share, since networks have many equal layers.

Most functions of a call depend on its shapes, its types and a few properties of its values, the traits (for example
whether its results are rounded once). A `shared_fact` is such a function. It is computed on a copy without
values. The result is cached by the traits that the computation used, and reused for calls with equal shapes, types and
traits. A function that uses values themselves, or fails, is computed for each call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from threading import local
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from mcugen.ir.call import Call, Rule, fact
from mcugen.ir.types import TensorType

Found = TypeVar("Found")
More = ParamSpec("More")


class NeedsValues(BaseException):
    """Raised if a computation uses values of a `_Bare`, which has none. It is no Exception, so that no handler takes it
    for an error of the model.
    """


class _Withheld:
    """A placeholder for values. It can be compared with None by `is`; every other use raises NeedsValues."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise NeedsValues

    __getattr__ = __getitem__ = __contains__ = __iter__ = __len__ = __bool__ = __array__ = __str__ = __repr__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = __float__ = _refuse
    __eq__ = __ne__ = __hash__ = _refuse
    __class__ = property(_refuse)


@dataclass(frozen=True, eq=False)
class _Question:
    """A node of a decision tree: a trait and its further arguments.

    answers: value of the trait -> the result as a `_Fact`, or the next `_Question`.
    """

    compute: Callable[..., Hashable]
    more: tuple[Hashable, ...]
    answers: dict[object, object] = field(default_factory=dict)


@dataclass(frozen=True)
class _OfMade:
    """A trait of the call that `make` derives from another call."""

    compute: Callable[..., Hashable]
    make: Callable[..., Call]
    more: tuple[Hashable, ...]

    def __call__(self, call: Call, /, *more: Hashable) -> Hashable:
        return self.compute(self.make(call, *self.more), *more)


@dataclass(frozen=True, eq=False)
class _Fact:
    """A wrapper of a result, so that a result of None is not mistaken for a missing result."""

    result: Any


_NEEDS_VALUES = _Fact(None)


class _Trial:
    """A computation on a call's copy without values. asked: the traits of the call itself that it has used so far."""

    def __init__(self, bare: Call, call: Call) -> None:
        self.bare, self.call = bare, call
        self.asked: dict[tuple[Any, tuple[Hashable, ...]], Hashable] = {}

    def answer(self, compute: Callable[..., Hashable], more: tuple[Hashable, ...]) -> Hashable:
        question = compute, more
        if question not in self.asked:
            self.asked[question] = _told(self.call, compute, more)
        return self.asked[question]


def _told(call: Call, compute: Callable[..., Hashable], more: tuple[Hashable, ...]) -> Hashable:
    """The value of a trait. Raises NeedsValues if `compute` fails, so that the computation is repeated on the full
    call.
    """
    try:
        return compute(call, *more)
    except Exception as error:
        raise NeedsValues from error


class _UnderWay(local):
    """The trials of this thread that are running, the innermost last."""

    def __init__(self) -> None:
        self.trials: list[_Trial] = []

    def on(self, call: Call) -> _Trial | None:
        """The innermost running trial if it computes on `call`, else None."""
        return self.trials[-1] if self.trials and self.trials[-1].bare is call else None


_under_way = _UnderWay()


@dataclass(frozen=True, eq=False)
class _Bare(Call):
    """A copy of a call without data, scales and ranges. Calls of equal shapes and types share one copy.

    known: cache by key. An entry is a `_Fact`, or the first `_Question` of a decision tree: {key: _Question(is_clamped,
    {True: _Fact(8), False: _Question(one_shift, {12: _Fact(9)})})}. origin: for a `_Bare` derived from another
    one, the other, the function that derived it, and its further arguments.
    """

    known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    origin: tuple[_Bare, Callable[..., Call], tuple[Hashable, ...]] | None = field(default=None, init=False, repr=False)

    def learnt(self, key: Hashable, compute: Callable[[Call], Any]) -> Any:
        """The result of a function of this copy, cached by the traits that it used.

        It is not cached in `facts`, since the next full call may have other traits. Raises NeedsValues if the function
        needs values or fails.
        """
        if (outer := _under_way.on(self)) is None:
            return compute(self)
        found = self.at(key, lambda question: outer.answer(question.compute, question.more))
        if found is None:
            trial = _Trial(self, outer.call)
            found = self.tried(key, compute, trial)
            for question in trial.asked:
                outer.answer(*question)
        if found is _NEEDS_VALUES:
            raise NeedsValues
        return found.result

    def answer(self, compute: Callable[..., Hashable], more: tuple[Hashable, ...]) -> Hashable:
        """The value of a trait of the full call for which this copy stands. Raises NeedsValues if there is none."""
        if self.origin is not None:
            bare, make, given = self.origin
            return bare.answer(_OfMade(compute, make, given), more)
        if (trial := _under_way.on(self)) is None:
            raise NeedsValues
        return trial.answer(compute, more)

    def at(self, key: Hashable, ask: Callable[[_Question], Hashable]) -> Any:
        """The cached fact, found by answering the cached questions with `ask`; None if it is not cached yet."""
        place, at = self.known, key
        while type(found := place.get(at)) is _Question:
            place, at = found.answers, ask(found)
        return found

    def tried(self, key: Hashable, compute: Callable[[Call], Any], trial: _Trial) -> _Fact:
        """The result of a function, or the mark _NEEDS_VALUES if it needs values or fails. It is cached by the traits
        used.
        """
        _under_way.trials.append(trial)
        try:
            found = _Fact(compute(self))
        except (NeedsValues, Exception):
            found = _NEEDS_VALUES
        finally:
            _under_way.trials.pop()
        place, at = self.known, key
        for (asked, more), answer in trial.asked.items():
            place, at = place.setdefault(at, _Question(asked, more)).answers, answer
        place[at] = found
        return found


_bare: WeakValueDictionary[Hashable, _Bare] = WeakValueDictionary()
"""Key of calls with equal shapes and types -> the copy that they share, as long as one of the calls exists."""


def trait(compute: Callable[Concatenate[Call, More], Found]) -> Callable[Concatenate[Call, More], Found]:
    """A decorator for a `fact` that may depend on values of a call but has few possible results, such as a yes or no.

    The results, and the arguments besides the call, must be hashable.
    """
    own: Callable[..., Any] = fact(compute)

    @wraps(compute)
    def known(call: Call, /, *more: Any) -> Any:
        try:
            return own(call, *more)
        except NeedsValues:
            if not isinstance(call, _Bare):
                raise
            return call.answer(own, more)

    return known  # type: ignore[return-value]


def made_call(make: Callable[Concatenate[Call, More], Call]) -> Callable[Concatenate[Call, More], Call]:
    """A decorator for a `fact` that returns another call, derived by `dataclasses.replace`. Traits work on the result
    too.
    """
    own: Callable[..., Call] = fact(make)

    @wraps(make)
    def known(call: Call, /, *more: Any) -> Call:
        found = own(call, *more)
        if isinstance(found, _Bare) and found is not call and found.origin is None:
            object.__setattr__(found, "origin", (call, own, more))
        return found

    return known  # type: ignore[return-value]


@trait
def keeps(call: Call, rule: Rule) -> bool:
    """Whether the call satisfies a rule."""
    return bool(rule(call))


def shared_fact(compute: Callable[Concatenate[Call, More], Found]) -> Callable[Concatenate[Call, More], Found]:
    """A decorator for a `fact` whose cached result serves all calls of equal shapes, types and traits.

    Results must not refer to the call, and the function must not use functools.cache for results of calls.
    """
    whole: Callable[..., Any] = compute
    own: Callable[..., Any] = fact(compute)

    @wraps(compute)
    def known(call: Call, /, *more: Any) -> Any:
        if type(call) is not Call:
            return own(call, *more)
        bare = _bare_of(call)
        key = (compute, *more) if more else compute
        try:
            found = bare.at(key, lambda question: _told(call, question.compute, question.more))
        except NeedsValues:
            return own(call, *more)
        if found is None:
            found = bare.tried(key, lambda bare: whole(bare, *more), _Trial(bare, call))
        return own(call, *more) if found is _NEEDS_VALUES else found.result

    return known  # type: ignore[return-value]


def of_first(call: Call, key: tuple[Hashable, ...], compute: Callable[[], Found]) -> Found:
    """A result that needs values, but is equal for all calls of equal shapes and types. The first call computes it."""
    known = call.known if isinstance(call, _Bare) else _bare_of(call).known
    if (of_first, key) not in known:
        known[of_first, key] = compute()
    found: Found = known[of_first, key]
    return found


_VALUES = ("inputs", "outputs", "constants", "input_range")
"""The fields of calls that hold values, or types with values such as scales."""


@fact
def _bare_of(call: Call) -> _Bare:
    """The copy of a call without values. Calls of equal shapes and types share it if the operator is hashable."""
    types = (tuple(t and (t.shape, t.dtype, t.quant is None) for t in ts) for ts in (call.inputs, call.outputs))
    given = tuple(data is None for data in call.constants)
    others = {f.name: getattr(call, f.name) for f in fields(Call) if f.init and f.name not in _VALUES}
    key = *others.values(), repr(call.op), *types, given  # repr distinguishes 0.0 and -0.0
    try:
        return _bare.get(key) or _bare.setdefault(key, _stripped(call, others))
    except (TypeError, ValueError):  # the operator is not hashable
        return _stripped(call, others)


def _stripped(call: Call, others: Mapping[str, Any]) -> _Bare:
    values: Any = _Withheld  # an object per value: tuples do not call __eq__ for identical objects

    def types_of(types: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(t and TensorType(t.shape, t.dtype, None if t.quant is None else values()) for t in types)

    constants = tuple(None if data is None else values() for data in call.constants)
    kept = zip(_VALUES, (types_of(call.inputs), types_of(call.outputs), constants, values()), strict=True)
    return _Bare(**dict(kept), **others)
