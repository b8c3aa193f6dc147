# SPDX-License-Identifier: Apache-2.0
"""Facts that calls of equal shapes and types share, as networks have many layers alike.

What a kernel says of a call depends on shapes, types and a few answers about values, such as whether its results are
rounded once: its traits. A `shared_fact` is computed on the call's bare one, which has no values, and the traits that
it asks for are kept with what it finds: calls alike that answer the same have the same fact. What asks for values
themselves is computed for each call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import wraps
from threading import local
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from mcugen.call import Call, Rule, fact
from mcugen.types import TensorType

Found = TypeVar("Found")
More = ParamSpec("More")


class NeedsValues(BaseException):
    """A bare call was asked for values. It is no Exception, so that nothing takes it for an error of the model."""


class _Withheld:
    """Stands for values. It can be told from None, and any other use raises NeedsValues."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise NeedsValues

    __getattr__ = __getitem__ = __contains__ = __iter__ = __len__ = __bool__ = __array__ = __str__ = __repr__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = __float__ = _refuse
    __eq__ = __ne__ = __hash__ = _refuse


@dataclass(frozen=True, eq=False)
class _Question:
    """A trait with what it takes beside the call, and what was found by its answer: a fact, or the next question."""

    compute: Callable[..., Hashable]
    more: tuple[Hashable, ...]
    answers: dict[object, object] = field(default_factory=dict)

    def answer(self, call: Call) -> Hashable:
        return self.compute(call, *self.more)


@dataclass(frozen=True)
class _OfMade:
    """A trait of the call that a function makes of a call."""

    compute: Callable[..., Hashable]
    make: Callable[..., Call]
    more: tuple[Hashable, ...]

    def __call__(self, call: Call, /, *more: Hashable) -> Hashable:
        return self.compute(self.make(call, *self.more), *more)


@dataclass(frozen=True, eq=False)
class _Fact:
    result: Any


_NEEDS_VALUES = _Fact(None)


class _Trial:
    """Something being computed on a bare call, in place of a call whose traits it may ask for."""

    def __init__(self, bare: Call, call: Call) -> None:
        self.bare, self.call = bare, call
        self.asked: dict[tuple[Any, tuple[Hashable, ...]], Hashable] = {}

    def answer(self, compute: Callable[..., Hashable], more: tuple[Hashable, ...]) -> Hashable:
        question = compute, more
        if question not in self.asked:
            self.asked[question] = compute(self.call, *more)
        return self.asked[question]


class _UnderWay(local):
    """The trials of this thread that are under way, the innermost last."""

    def __init__(self) -> None:
        self.trials: list[_Trial] = []

    def on(self, call: Call) -> _Trial | None:
        """The innermost one, if it is on this bare call."""
        return self.trials[-1] if self.trials and self.trials[-1].bare is call else None


_under_way = _UnderWay()


@dataclass(frozen=True, eq=False)
class _Bare(Call):
    """A call without data, scales and ranges: the same object for calls alike. A changed copy of it is one as well.

    known: by key, what is known of these calls; see `_Question`.
    origin: of a copy, the bare call, the function that made it, and what that took beside the call.
    """

    known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    origin: tuple[Call, Callable[..., Call], tuple[Hashable, ...]] | None = field(default=None, init=False, repr=False)

    def learnt(self, key: Hashable, compute: Callable[[Call], Any]) -> Any:
        """What a function finds. It is no fact of this call, as it may ask for traits."""
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
        """What a trait is of the call that this one stands for. Raises NeedsValues for a copy of unknown origin."""
        if isinstance(self.origin, tuple) and isinstance(bare := self.origin[0], _Bare):
            return bare.answer(_OfMade(compute, *self.origin[1:]), more)
        if (trial := _under_way.on(self)) is None:
            raise NeedsValues
        return trial.answer(compute, more)

    def at(self, key: Hashable, ask: Callable[[_Question], Hashable]) -> Any:
        """What is known for the answers to its questions; None if nothing is."""
        place, at = self.known, key
        while type(found := place.get(at)) is _Question:
            place, at = found.answers, ask(found)
        return found

    def tried(self, key: Hashable, compute: Callable[[Call], Any], trial: _Trial) -> _Fact:
        """What a function finds, or that it needs values; either is known from now on, behind what it asked."""
        _under_way.trials.append(trial)
        try:
            found = _Fact(compute(self))
        except NeedsValues:
            found = _NEEDS_VALUES
        finally:
            _under_way.trials.pop()
        place, at = self.known, key
        for (asked, more), answer in trial.asked.items():
            place, at = place.setdefault(at, _Question(asked, more)).answers, answer
        place[at] = found
        return found


_bare: WeakValueDictionary[Hashable, _Bare] = WeakValueDictionary()


def trait(compute: Callable[Concatenate[Call, More], Found]) -> Callable[Concatenate[Call, More], Found]:
    """A `fact` of few values: where it needs those of the call, calls alike are told apart by it.

    Its results, and what it takes beside the call, can be keys.
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
    """A `fact` that is another call, made of this one: its traits are those of this one, too."""
    own: Callable[..., Call] = fact(make)

    @wraps(make)
    def known(call: Call, /, *more: Any) -> Call:
        found = own(call, *more)
        if isinstance(found, _Bare) and found.origin is None:
            object.__setattr__(found, "origin", (call, own, more))
        return found

    return known  # type: ignore[return-value]


@trait
def keeps(call: Call, rule: Rule) -> bool:
    """Whether the call keeps a rule."""
    return rule(call)


def shared_fact(compute: Callable[Concatenate[Call, More], Found]) -> Callable[Concatenate[Call, More], Found]:
    """A `fact` that calls alike share, where it asks for nothing but shapes, types and traits.

    Its results must not hold the call.
    """
    whole: Callable[..., Any] = compute
    own: Callable[..., Any] = fact(compute)

    @wraps(compute)
    def known(call: Call, /, *more: Any) -> Any:
        if type(call) is not Call:
            return own(call, *more)
        bare = _bare_of(call)
        key = (compute, *more) if more else compute
        found = bare.at(key, lambda question: question.answer(call))
        if found is None:
            found = bare.tried(key, lambda bare: whole(bare, *more), _Trial(bare, call))
        return own(call, *more) if found is _NEEDS_VALUES else found.result

    return known  # type: ignore[return-value]


def of_first(call: Call, key: tuple[Hashable, ...], compute: Callable[[], Found]) -> Found:
    """What is the same for all calls alike, though it needs values: computed for the first of them that asks."""
    known = call.known if isinstance(call, _Bare) else _bare_of(call).known
    if (of_first, key) not in known:
        known[of_first, key] = compute()
    found: Found = known[of_first, key]
    return found


@fact
def _bare_of(call: Call) -> _Bare:
    """The bare call of a call; one of its own where the operator cannot be compared."""
    types = (tuple(t and (t.shape, t.dtype, t.quant is None) for t in ts) for ts in (call.inputs, call.outputs))
    given = tuple(data is None for data in call.constants)
    key = type(call.op), call.op, call.reference, call.loop_bytes, call.features, *types, given
    try:
        return _bare.get(key) or _bare.setdefault(key, _stripped(call))
    except TypeError:  # an operator that is no key
        return _stripped(call)


def _stripped(call: Call) -> _Bare:
    values: Any = _Withheld  # each is one of its own, as equal objects are not compared

    def types_of(types: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(t and TensorType(t.shape, t.dtype, None if t.quant is None else values()) for t in types)

    constants = tuple(None if data is None else values() for data in call.constants)
    return _Bare(
        call.op,
        types_of(call.inputs),
        types_of(call.outputs),
        constants,
        call.reference,
        values(),
        call.loop_bytes,
        call.features,
    )
