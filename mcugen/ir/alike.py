# SPDX-License-Identifier: Apache-2.0
"""Facts that calls of equal shapes and types share, as networks have many layers alike.

The facts that kernels need of a call depend on shapes, types and a few properties of its values, such as whether its
results are rounded once: its traits. A `shared_fact` is computed on a bare copy of the call, which has no values, and
cached by the traits that it used: calls alike with the same traits have the same fact. A fact that uses values
themselves, or fails, is computed for each call.
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
    """A bare call was asked for values. It is no Exception, so that nothing takes it for an error of the model."""


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
    """A trait with its arguments beside the call, and for each answer so far the result: a fact, or the next
    question."""

    compute: Callable[..., Hashable]
    more: tuple[Hashable, ...]
    answers: dict[object, object] = field(default_factory=dict)


@dataclass(frozen=True)
class _OfMade:
    """A trait of a call that is derived from another call by a function."""

    compute: Callable[..., Hashable]
    make: Callable[..., Call]
    more: tuple[Hashable, ...]

    def __call__(self, call: Call, /, *more: Hashable) -> Hashable:
        return self.compute(self.make(call, *self.more), *more)


@dataclass(frozen=True, eq=False)
class _Fact:
    """A wrapper of a result, so that a result of None, or one that is a question, is not mistaken."""

    result: Any


_NEEDS_VALUES = _Fact(None)


class _Trial:
    """A computation on a bare call in place of a full call, with the traits of the full call that it has used so
    far."""

    def __init__(self, bare: Call, call: Call) -> None:
        self.bare, self.call = bare, call
        self.asked: dict[tuple[Any, tuple[Hashable, ...]], Hashable] = {}

    def answer(self, compute: Callable[..., Hashable], more: tuple[Hashable, ...]) -> Hashable:
        question = compute, more
        if question not in self.asked:
            self.asked[question] = _told(self.call, compute, more)
        return self.asked[question]


def _told(call: Call, compute: Callable[..., Hashable], more: tuple[Hashable, ...]) -> Hashable:
    """The value of a trait of a call. Raises NeedsValues where it fails: the computation then runs, and fails, on the
    call."""
    try:
        return compute(call, *more)
    except Exception as error:
        raise NeedsValues from error


class _UnderWay(local):
    """The trials of this thread that are running, the innermost last."""

    def __init__(self) -> None:
        self.trials: list[_Trial] = []

    def on(self, call: Call) -> _Trial | None:
        """The innermost trial, if it runs on this bare call."""
        return self.trials[-1] if self.trials and self.trials[-1].bare is call else None


_under_way = _UnderWay()


@dataclass(frozen=True, eq=False)
class _Bare(Call):
    """A call without data, scales and ranges: the same object for calls alike. A changed copy of it is one as well.

    known: by key, a `_Fact`; or the `_Question` asked first, with a fact or the next question for each answer so far:
    {key: _Question(is_clamped, {True: _Fact(8), False: _Question(one_shift, {12: _Fact(9)})})}.
    origin: of a copy, the bare call, the function that made it, and that function's further arguments.
    """

    known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    origin: tuple[_Bare, Callable[..., Call], tuple[Hashable, ...]] | None = field(default=None, init=False, repr=False)

    def learnt(self, key: Hashable, compute: Callable[[Call], Any]) -> Any:
        """The result of a function, cached by the traits that it used, not in `facts`: the next call may have other
        traits.

        Raises NeedsValues where it needs them or fails.
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
        """The value of a trait of the call that this one stands for. Raises NeedsValues for a copy of unknown
        origin."""
        if self.origin is not None:
            bare, make, given = self.origin
            return bare.answer(_OfMade(compute, make, given), more)
        if (trial := _under_way.on(self)) is None:
            raise NeedsValues
        return trial.answer(compute, more)

    def at(self, key: Hashable, ask: Callable[[_Question], Hashable]) -> Any:
        """The cached fact on the path of these answers; None if there is none yet."""
        place, at = self.known, key
        while type(found := place.get(at)) is _Question:
            place, at = found.answers, ask(found)
        return found

    def tried(self, key: Hashable, compute: Callable[[Call], Any], trial: _Trial) -> _Fact:
        """The result of a function, or the mark that it needs values or fails; it is cached by the traits that it
        used."""
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
"""The bare call that calls alike share, by their common key; it lives as long as one of them uses it."""


def trait(compute: Callable[Concatenate[Call, More], Found]) -> Callable[Concatenate[Call, More], Found]:
    """A `fact` with few possible values: where it depends on the values of a call, calls alike are grouped by it.

    Its results, and its arguments beside the call, must be hashable.
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
    """A `fact` that is another call, derived from this one by `dataclasses.replace`, so that traits work on it too."""
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
    """Whether the call keeps a rule."""
    return bool(rule(call))


def shared_fact(compute: Callable[Concatenate[Call, More], Found]) -> Callable[Concatenate[Call, More], Found]:
    """A `fact` that calls alike share, if it uses only shapes, types and traits.

    Its results must not refer to the call, and no function that it uses may cache facts of calls in functools.cache.
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
    """A result that is equal for all calls alike, though it needs values: it is computed from the first of them."""
    known = call.known if isinstance(call, _Bare) else _bare_of(call).known
    if (of_first, key) not in known:
        known[of_first, key] = compute()
    found: Found = known[of_first, key]
    return found


_VALUES = ("inputs", "outputs", "constants", "input_range")
"""The fields of calls that hold values, beside shapes and types."""


@fact
def _bare_of(call: Call) -> _Bare:
    """The bare call of a call; a new one each time where the operator cannot be a key."""
    types = (tuple(t and (t.shape, t.dtype, t.quant is None) for t in ts) for ts in (call.inputs, call.outputs))
    given = tuple(data is None for data in call.constants)
    others = {f.name: getattr(call, f.name) for f in fields(Call) if f.init and f.name not in _VALUES}
    key = *others.values(), repr(call.op), *types, given  # repr distinguishes 0.0 and -0.0
    try:
        return _bare.get(key) or _bare.setdefault(key, _stripped(call, others))
    except (TypeError, ValueError):  # the operator is not hashable
        return _stripped(call, others)


def _stripped(call: Call, others: Mapping[str, Any]) -> _Bare:
    values: Any = _Withheld  # one object each, as equal objects are not compared

    def types_of(types: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(t and TensorType(t.shape, t.dtype, None if t.quant is None else values()) for t in types)

    constants = tuple(None if data is None else values() for data in call.constants)
    kept = zip(_VALUES, (types_of(call.inputs), types_of(call.outputs), constants, values()), strict=True)
    return _Bare(**dict(kept), **others)
