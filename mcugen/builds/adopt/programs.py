"""Programs in a folder of firmware: what calls GetModel, the models that it gets, and how each is built."""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import ModuleType

from mcugen import pipeline
from mcugen.builds.adopt import systems
from mcugen.builds.adopt.cpp_facts import ModelArray, SourceFacts, facts_of
from mcugen.builds.adopt.sizes import value_of
from mcugen.builds.adopt.tree import FirmwareTree
from mcugen.errors import McugenError, UnsupportedError
from mcugen.formats.tflite import read
from mcugen.options import TFLM, Options, c_name_from
from mcugen.pipeline import Artifact
from mcugen.system import resources

_PLAIN = re.compile(r"^(?:g_|k)?(.+?)(?:_model)?(?:_tflite)?(?:_model)?(?:_data)?(?:_tflite)?$", re.IGNORECASE)
_TOO_GENERAL = frozenset(("model", "network", "data", "tflite", "main", "src"))


@dataclass(frozen=True)
class ArenaSize:
    """An arena of the firmware: the C expression of its size, and its bytes; None if it cannot be evaluated."""

    file: str
    expression: str
    nbytes: int | None


@dataclass
class FirmwareModel:
    """A model of a program. arrays: the arrays that hold it; file: its .tflite file, if there is no array.

    callers: the sources that call GetModel with it. operators: TensorFlow Lite's names of its operators. embedded:
    whether the build puts the file into the firmware byte by byte
    """

    symbol: str
    name: str
    data: bytes
    arrays: tuple[ModelArray, ...]
    file: str = ""
    callers: frozenset[str] = frozenset()
    operators: tuple[str, ...] = ()
    artifact: Artifact | None = None
    embedded: bool = False

    @property
    def built(self) -> Artifact:
        assert self.artifact is not None
        return self.artifact


@dataclass
class FirmwareProgram:
    """Sources of one build that call GetModel. folder: the folder of its build file, with a slash; "" for the root.

    refusals: reasons why the program cannot be switched
    """

    folder: str
    systems: dict[str, ModuleType]
    sources: list[SourceFacts] = field(default_factory=list)
    models: list[FirmwareModel] = field(default_factory=list)
    arenas: list[ArenaSize] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def called(self) -> str:
        return self.folder.rstrip("/") or "."

    def arenas_of(self, model: FirmwareModel) -> list[ArenaSize]:
        """The arenas in the sources that call GetModel with this model."""
        return [arena for arena in self.arenas if arena.file in model.callers]

    def calls(self, name: str) -> bool:
        """Whether a model has a custom operator of this name; "" stands for a name that is not known."""
        customs = {op.removeprefix("CUSTOM:") for m in self.models for op in m.operators if op.startswith("CUSTOM:")}
        return name in customs if name else bool(customs)

    @property
    def idle_kernels(self) -> list[tuple[str, str]]:
        """(place, name) of kernels that the application registers and no model calls."""
        return [(place, name) for found in self.sources for place, name in found.kernels if not self.calls(name)]

    @property
    def registered(self) -> list[str]:
        known = _operators()
        return sorted({name for facts in self.sources for name in facts.operators if plain_name(name) in known})

    @property
    def unused(self) -> list[str]:
        """Registered operators that no model has."""
        needed = {plain_name(name) for model in self.models for name in model.operators}
        return [name for name in self.registered if plain_name(name) not in needed]

    @property
    def missing(self) -> list[str]:
        """Operators of the models that the program does not register; [] if it registers none by name, or all."""
        if any(facts.all_operators for facts in self.sources) or not self.registered:
            return []
        registered = {plain_name(name) for name in self.registered}
        return sorted({name for model in self.models for name in model.operators if plain_name(name) not in registered})


def plain_name(name: str) -> str:
    """A form of an operator's name that is equal for files and resolvers: CONV_2D and Conv2D, SignalRfft and Rfft."""
    plain = name.removeprefix("CUSTOM:").replace("_", "").replace("-", "").upper()
    return plain.removeprefix("SIGNAL").removeprefix("TFLITE")


def registration(name: str) -> str:
    """The call that registers a kernel of the application, for reports. name: "" if the source has no literal."""
    return f"AddCustom({name!r})" if name else "AddCustom"


@functools.cache
def _operators() -> frozenset[str]:
    """The plain names of all operators that the exported resolver has an Add function for."""
    text = (resources.templates() / "exports" / TFLM / "ops.h.j2").read_text(encoding="utf-8")
    return frozenset(plain_name(name) for name in re.findall(r"MCUGEN_TFLM_OP\((\w+)\)", text))


def programs_of(tree: FirmwareTree, options: Options) -> list[FirmwareProgram]:
    """The programs of a folder, with their models built. Raises UnsupportedError if no source calls GetModel."""
    facts = [found for path in tree.sources() if (found := facts_of(path, tree.read(path)))]
    calling = [found for found in facts if found.arguments]
    arrays = [array for found in facts for array in found.arrays if array.condition != "#if 0"]
    flatbuffers = [path for path in tree.paths if path.endswith(".tflite")]
    if not calling:
        listed = ", ".join(array.place for array in arrays[:8]) or "no array and no .tflite file that is a model"
        raise UnsupportedError(
            f"no source calls GetModel; models in the folder: {listed}",
            where=str(tree.folder),
            hint="give the folder with the sources of the firmware",
        )
    programs = _grouped(tree, calling)
    every = systems.modules()
    constants = _constants(facts)
    for program in programs:
        program.systems = {name: every[name] for name in program.systems}
        _find_models(program, tree, arrays, flatbuffers)
        sizes = [(found.file, size) for found in program.sources for size in found.sizes]
        program.arenas = [ArenaSize(file, size, _size(size, file, constants)) for file, size in dict.fromkeys(sizes)]
        _read_operators(program)
        if program.models and not program.refusals:
            _build(program, options)
    return programs


def _constants(facts: Sequence[SourceFacts]) -> dict[str, dict[str, list[str]]]:
    """Source or folder -> name -> expressions of a constant. A folder has the constants of all sources in it."""
    found: dict[str, dict[str, list[str]]] = {}
    for source in facts:
        own = found.setdefault(str(PurePosixPath(source.file).parent), {})
        for name, values in source.constants.items():
            own.setdefault(name, []).extend(values)
        found[source.file] = source.constants
    return found


def _size(expression: str, file: str, constants: Mapping[str, Mapping[str, Sequence[str]]]) -> int | None:
    own, beside = constants.get(file, {}), constants.get(str(PurePosixPath(file).parent), {})
    return value_of(expression, {**beside, **own})


def _grouped(tree: FirmwareTree, calling: Sequence[SourceFacts]) -> list[FirmwareProgram]:
    """One program for the sources of each build file; sources without a build file are grouped by folder."""
    every, programs = systems.modules(), dict[str, FirmwareProgram]()
    for facts in calling:
        folder, claiming = _build_of(tree, facts.file, every)
        programs.setdefault(folder, FirmwareProgram(folder, claiming)).sources.append(facts)
    return list(programs.values())


def _build_of(tree: FirmwareTree, file: str, every: Mapping[str, ModuleType]) -> tuple[str, dict[str, ModuleType]]:
    parents = [str(parent) for parent in PurePosixPath(file).parents]
    folders = ["" if parent == "." else f"{parent}/" for parent in parents]
    for folder in folders:
        claiming = {name: system for name, system in every.items() if system.claims(tree, folder, [file])}
        if claiming:
            return folder, claiming
    return folders[0], {}


def _find_models(
    program: FirmwareProgram, tree: FirmwareTree, arrays: Sequence[ModelArray], flatbuffers: Sequence[str]
) -> None:
    """Set the models of a program, and note the reason for each model that cannot be switched."""
    asked: dict[str, list[tuple[str, int]]] = {}
    known = {array.name for array in arrays}
    for facts in program.sources:
        for line, argument in facts.arguments:
            name = _bare(argument)
            for each in [name] if name in known else _pointed(name, program, tree, known) or [name]:
                asked.setdefault(each, []).append((facts.file, line))
    for name, places in asked.items():
        place, callers = "{}:{}".format(*places[0]), frozenset(file for file, _ in places)
        own = [array for array in arrays if array.name == name]
        near = [array for array in own if array.file.startswith(program.folder)] or own
        problems = [f"{array.place}: {name}: {array.problem}" for array in near if array.problem]
        if problems:
            program.refusals += problems
        elif len({array.data for array in near}) > 1:
            listed = " and ".join(f"{a.place}{f' ({a.condition})' if a.condition else ''}" for a in near)
            why = f"arrays of one name, {name}, that differ: which one is linked is not known"
            program.refusals.append(f"{listed}: {why}")
        elif near:
            _add(program, FirmwareModel(near[0].symbol, "", near[0].data, tuple(near), callers=callers))
        elif (file := _file_of(name, flatbuffers)) is not None:
            _add(program, FirmwareModel(name, "", tree.read(file), (), file, callers))
        elif symbol := _embedded_as(name, program):
            _find_embedded(program, tree, f"{place}: GetModel({name})", symbol, callers)
        else:
            program.refusals.append(f"{place}: GetModel({name}): no array of this name holds a model")
    _name_models(program, tree)


def _bare(value: str) -> str:
    """The variable in an expression like `&ns::name[0]`."""
    return re.sub(r"^[&(]+|\[0\]$|[)]+$|\.data\(\)$", "", value).rpartition("::")[2]


def _pointed(argument: str, program: FirmwareProgram, tree: FirmwareTree, known: Set[str]) -> list[str]:
    """The model arrays that the program assigns to a pointer, which may be a member.

    Empty if the pointer may point to anything else: if it is a parameter, if its address is taken, or if another value
    is assigned. known: names of arrays that hold models
    """
    name = re.split(r"\.|->", argument)[-1]
    texts = [tree.text(path) for path in tree.sources() if path.startswith(program.folder)]
    if not re.fullmatch(r"\w+", name) or any(re.search(rf"[*&]\s*(?:const\s+)?{name}\s*[,)]", text) for text in texts):
        return []
    values = [found[1].strip() for text in texts for found in re.finditer(rf"\b{name}\s*=(?!=)\s*([^;,}})]*)", text)]
    names = dict.fromkeys(_bare(value) for value in values if value not in ("nullptr", "NULL", "0"))
    return [*names] if names.keys() <= known else []


def _embedded_as(name: str, program: FirmwareProgram) -> str:
    """The linker symbol of the embedded file that a variable points to; "" if it points to none."""
    symbols = {key: symbol for found in program.sources for key, symbol in found.embedded.items()}
    return symbols.get(name, name if re.fullmatch(r"_binary_\w+_start", name) else "")


def _find_embedded(
    program: FirmwareProgram, tree: FirmwareTree, where: str, symbol: str, callers: frozenset[str]
) -> None:
    """Add the model in an embedded file, found by its linker symbol; or note the reason why that is not possible."""
    stem = symbol.removeprefix("_binary_").removesuffix("_start")
    fitting = [path for path in tree.paths if re.sub(r"\W", "_", PurePosixPath(path).name) == stem]
    fitting = [path for path in fitting if path.startswith(program.folder)] or fitting
    ends = [path for path in tree.sources() if f"_binary_{stem}_end" in tree.text(path)]
    builds = [f"{program.folder}{system.EMBEDS}" for system in program.systems.values() if hasattr(system, "EMBEDS")]
    if len(fitting) != 1:
        program.refusals.append(f"{where}: no file, or more than one, whose name makes the symbol {symbol}")
    elif not any(PurePosixPath(fitting[0]).name in tree.text(path) for path in builds):
        program.refusals.append(f"{where}: {fitting[0]} is embedded, and the build file that does it is not known")
    elif ends:
        program.refusals.append(
            f"{ends[0]}: takes the length of {fitting[0]} by its end, which the model does not have"
        )
    else:
        _add(program, FirmwareModel(symbol, "", tree.read(fitting[0]), (), fitting[0], callers, embedded=True))


def _add(program: FirmwareProgram, model: FirmwareModel) -> None:
    if model.symbol not in [other.symbol for other in program.models]:
        program.models.append(model)


def _file_of(symbol: str, flatbuffers: Iterable[str]) -> str | None:
    """The .tflite file that a build turns into an array of this name; None unless exactly one has a fitting name."""
    stem = _stem(symbol)
    fitting = [path for path in flatbuffers if re.sub(r"\W+", "_", PurePosixPath(path).stem) in (stem, symbol)]
    return fitting[0] if len(fitting) == 1 else None


def _stem(symbol: str) -> str:
    found = _PLAIN.match(symbol)
    return found[1] if found else symbol


def _name_models(program: FirmwareProgram, tree: FirmwareTree) -> None:
    """Set the C name of each model: the array's name, or the folder's if that is as general as "model".

    A name that a source file of the program has gets the suffix _net.
    """
    taken = {PurePosixPath(path).stem.lower() for path in tree.paths if path.startswith(program.folder)}
    place = PurePosixPath((tree.folder.name + "/" + program.folder).rstrip("/"))
    general = next((part for part in reversed(place.parts) if part.lower() not in _TOO_GENERAL), "network")
    for model in program.models:
        stem = _stem(PurePosixPath(model.file).stem if model.embedded else model.symbol.rpartition("::")[2])
        name = c_name_from(general if stem.lower() in _TOO_GENERAL else stem)
        while name.lower() in taken:
            name += "_net"
        taken.add(name.lower())
        model.name = name


def _read_operators(program: FirmwareProgram) -> None:
    """Set the operators of a program's models. Refuse the program if a model calls a kernel of the application."""
    for model in program.models:
        try:
            model.operators = read.operators(model.data)
        except McugenError as error:
            program.refusals.append(_reason(model, error))
    program.refusals += [
        f"{place}: {registration(name)} registers a kernel of the application, which compiled models cannot call"
        for found in program.sources
        for place, name in found.kernels
        if program.calls(name)
    ]


def _build(program: FirmwareProgram, options: Options) -> None:
    """Build the models of a program. Note the reason for each model that cannot be built."""
    for model in program.models:
        try:
            model.artifact = _built(model, options)
        except McugenError as error:
            program.refusals.append(_reason(model, error))


def _reason(model: FirmwareModel, error: McugenError) -> str:
    place = model.arrays[0].place if model.arrays else model.file
    return f"{place}: {model.symbol}: {' '.join(str(error).split())}"


def _built(model: FirmwareModel, options: Options) -> Artifact:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{model.name}.tflite"
        file.write_bytes(model.data)
        own = replace(options, name=model.name, symbol=(model.symbol,), export=(TFLM,), amalgamate=True, no_report=True)
        return pipeline.build(file, own)


def code_of(model: FirmwareModel) -> Iterator[tuple[str, bytes]]:
    """(path, content) of the files of a model's build that the firmware compiles or includes."""
    for path, content in model.built.files.items():
        if PurePosixPath(path).suffix in (".c", ".cc", ".h") and not path.startswith("examples/"):
            yield path, content
