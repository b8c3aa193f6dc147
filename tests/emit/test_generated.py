# SPDX-License-Identifier: Apache-2.0
"""Promises of the emitted C: it compiles clean everywhere, holds no state, and is the same wherever it is made."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from mcugen.emit import EXAMPLE, bundle
from mcugen.emit.amalgamate import GUARDED, LOCAL
from mcugen.emit.check_c import CHECK_FLAGS, FLOAT_HEADERS, INTEGER_HEADERS, check_files
from mcugen.emit.stub_headers import stubs
from mcugen.errors import ToolError
from mcugen.machines.toolchain.process import run, run_checked
from mcugen.options import c_name_from
from mcugen.system import resources
from tests.emit.built import MODELS, ROOT, WARNINGS, Built, build, build_bytes, model_file, transform
from tests.support import runtime
from tests.support.tflite_writer import ModelWriter


@pytest.fixture(scope="module", params=MODELS)
def plain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(request.param, tmp_path_factory.mktemp("plain"), selftest=True)


@pytest.fixture(scope="module", params=MODELS)
def amalgamated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(request.param, tmp_path_factory.mktemp("amalgamated"), amalgamate=True)


@pytest.mark.sampled(4)
def test_compiles_without_a_warning(plain: Built, tmp_path: Path) -> None:
    for source in (*plain.sources(), EXAMPLE):
        plain.gcc("-std=c99", "-O2", *WARNINGS, "-c", source, "-o", tmp_path / "o.o")
    assert (tmp_path / "o.o").stat().st_size > 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("standard", ["c11", "c17"])
def test_is_c_of_later_standards_too(plain: Built, standard: str) -> None:
    """Compiles by every standard without warnings of the syntax check; those of the optimizer are the same by all."""
    plain.gcc(f"-std={standard}", *WARNINGS, "-fsyntax-only", *plain.sources(), EXAMPLE)
    assert (plain.folder / EXAMPLE).exists()


def test_no_kernel_has_local_names_that_an_amalgamation_cannot_tell() -> None:
    for source in runtime.sources():
        local = LOCAL.findall(source.read_text(encoding="utf-8"))
        assert not any(name.startswith("__") for name in local), f"{source.name}: attributes belong before the type"


def test_no_header_has_a_name_of_another_file() -> None:
    """An amalgamation has all headers in one file; those of SWAR kernels have variants for instruction sets."""
    files = {path.name: path.read_text(encoding="utf-8") for path in resources.c_runtime().rglob("*.[ch]")}
    headers = {name for name, text in files.items() if GUARDED.search(text) and not name.startswith("swar_")}
    macros = {name: set(re.findall(r"^#define (\w+)", text, re.MULTILINE)) for name, text in files.items()}
    owner: dict[str, str] = {}
    for name in sorted(headers):
        functions = re.findall(r"^static (?:inline|MCUGEN_INLINE) [\w ]*?\*?(mg_\w+)\(", files[name], re.MULTILINE)
        stay = {macro for macro in macros[name] if f"#undef {macro}\n" not in files[name]}
        assert not {known: owner[known] for known in {*functions, *stay} & owner.keys()}, name
        owner |= dict.fromkeys({*functions, *stay}, name)
    for name in files.keys() - headers:
        assert not {known: owner[known] for known in macros[name] & owner.keys()}, name


@pytest.mark.sampled(4)
def test_amalgamated_compiles_without_a_warning(amalgamated: Built, tmp_path: Path) -> None:
    assert {p for p in amalgamated.artifact.files if p.endswith((".c", ".h"))} == {
        f"{amalgamated.name}.c",
        f"{amalgamated.name}.h",
        EXAMPLE,
    }
    amalgamated.gcc("-std=c17", *WARNINGS, "-fsyntax-only", *amalgamated.sources(), EXAMPLE)
    for source in (*amalgamated.sources(), EXAMPLE):
        amalgamated.gcc("-std=c99", "-O2", *WARNINGS, "-c", source, "-o", tmp_path / "o.o")
    symbols = _symbols(tmp_path / "o.o", amalgamated, f"{amalgamated.name}.c")
    assert {name for kind, name in symbols if kind.isupper() and kind != "U"} == {f"{amalgamated.name}_run"}


def test_header_is_cpp(plain: Built, tmp_path: Path) -> None:
    source = tmp_path / "use.cpp"
    source.write_text(f'#include "{plain.name}.h"\nstatic {plain.name}_t m;\nint main() {{ {plain.name}_run(&m); }}\n')
    flags = ["-Wold-style-cast", *(flag for flag in WARNINGS if flag != "-Wcast-align=strict")]
    run_checked(
        ["g++", "-std=c++17", "-Wold-style-cast", *flags, f"-I{plain.folder}", "-c", source, "-o", tmp_path / "use.o"]
    )
    assert (tmp_path / "use.o").exists()


@pytest.mark.sampled(6)
def test_optimised_whole_program_computes_the_same(plain: Built) -> None:
    inputs = plain.inputs()
    expected = run_checked([plain.program(["-O0", "-fno-strict-aliasing"])], stdin=inputs).stdout
    assert len(expected) == sum(end.nbytes for end in plain.view.outputs)
    got = run_checked([plain.program(["-O3", "-flto"])], stdin=inputs).stdout
    if any(end.c_type == "mg_f32" for end in plain.view.outputs):
        np.testing.assert_allclose(np.frombuffer(got, "<f4"), np.frombuffer(expected, "<f4"), rtol=1e-5, atol=1e-6)
    else:
        assert got == expected


@pytest.mark.sampled(6)
def test_amalgamated_computes_the_same(amalgamated: Built, tmp_path: Path) -> None:
    stem = next(model for model in MODELS if amalgamated.name == c_name_from(model))
    plain = build(stem, tmp_path)
    inputs = plain.inputs(3)
    expected = run_checked([plain.program()], stdin=inputs).stdout
    assert run_checked([amalgamated.program()], stdin=inputs).stdout == expected


@pytest.mark.sampled(4)
def test_symbols_and_state(plain: Built, tmp_path: Path) -> None:
    for source in plain.sources():
        symbols = _symbols(tmp_path / "o.o", plain, source)
        wrong = [
            name
            for kind, name in symbols
            if kind.isupper() and kind != "U" and not name.startswith((f"{plain.name}_", "mg_"))
        ]
        assert not wrong, source
        assert not [name for kind, name in symbols if kind in "bBdDC"], source


def _symbols(out: Path, built: Built, source: str) -> list[tuple[str, str]]:
    built.gcc("-std=c99", "-O2", "-fno-pie", "-c", source, "-o", out)
    lines = run_checked(["nm", out]).stdout.decode().splitlines()
    return [(line.split()[-2], line.split()[-1]) for line in lines]


def test_folders_hold_what_is_used(plain: Built) -> None:
    files = plain.artifact.files
    choices = [step.choice for step in plain.artifact.schedule.steps]
    sources = {bundle.of(choices).source(choice.kernel, choice.call) for choice in choices}
    assert {p for p in files if p.startswith("kernels/")} == {f"kernels/{name}" for name in sources}
    reached = set()
    for source in (*plain.sources(), EXAMPLE):
        text = run_checked(["gcc", "-MM", "-I.", source], cwd=plain.folder).stdout.decode()
        reached |= set(re.findall(r"mcugen/[\w.]+\.h", text))
    assert {p for p in files if p.startswith("mcugen/")} == reached
    assert sorted(files) == sorted(str(p.relative_to(plain.folder)) for p in plain.folder.rglob("*") if _is_emitted(p))


def _is_emitted(path: Path) -> bool:
    return path.is_file() and not path.name.startswith("program")


@pytest.mark.sampled(4)
def test_numbers_in_comments_are_true(plain: Built, tmp_path: Path) -> None:
    view, header = plain.view, (plain.folder / f"{plain.name}.h").read_text()
    names = [f"sizeof({plain.name}_t)", *(f"{e.macro}_SIZE / sizeof({e.c_type})" for e in view.ends)]
    prints = "".join(f'printf("%d\\n", (int)({name}));' for name in names)
    driver = f'#include <stdio.h>\n#include "{plain.name}.h"\nint main(void) {{ {prints} return 0; }}\n'
    numbers = [int(v) for v in run_checked([plain.program(["-O1"], driver)]).stdout.split()]
    assert numbers == [view.arena_size, *(e.length for e in view.ends)]
    assert f"#define {view.macro}_ARENA_SIZE {view.arena_size}" in header
    plain.gcc("-std=c99", "-O2", "-c", f"{plain.name}_weights.c", "-o", tmp_path / "w.o")
    rows = run_checked(["nm", "--print-size", "--radix=d", tmp_path / "w.o"]).stdout.decode().splitlines()
    total = sum(int(row.split()[1]) for row in rows if len(row.split()) == 4)
    assert total == view.weights_size == sum(array.nbytes for array in view.arrays)
    assert f"#define {view.macro}_WEIGHTS_SIZE {view.weights_size} " in header
    assert all(row.offset >= 0 and row.offset + row.nbytes <= view.arena_size for row in view.memory_map)


@pytest.mark.sampled(4)
def test_text_passes_the_checks(plain: Built) -> None:
    is_float = any("_f32" in path or "_f16" in path for path in plain.artifact.files)
    own = {f"{plain.name}.h", f"{plain.name}_weights.h"}
    checked = [s for s in plain.sources() if not s.endswith("_weights.c")]
    texts = {source: _preprocessed(plain.folder / source, plain.folder) for source in checked}
    allowed = (FLOAT_HEADERS if is_float else INTEGER_HEADERS) | own
    assert [str(v) for v in check_files(texts, allowed_headers=allowed)] == []


def _preprocessed(path: Path, include: Path) -> str:
    return run_checked(["gcc", *CHECK_FLAGS, "-I", stubs(), "-I", include, path]).stdout.decode()


# determinism ---------------------------------------------------------------------------------------------------


def test_same_bytes_from_anywhere(tmp_path: Path) -> None:
    script = "import sys, mcugen; mcugen.compile(sys.argv[1], name='same', selftest=True).write(sys.argv[2])"
    builds = []
    for k, (seed, folder) in enumerate((("0", tmp_path), ("4711", tmp_path / "a b" / "ü"))):
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / f"copy{k}.tflite"
        shutil.copy(model_file("image_net", tmp_path), copy)
        out = folder / "out"
        env = ["env", f"PYTHONHASHSEED={seed}", f"PYTHONPATH={ROOT}"]
        run_checked([*env, sys.executable, "-c", script, copy, out], cwd=folder)
        builds.append({str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()})
    assert builds[0] == builds[1]
    assert not [name for name, text in builds[0].items() if str(tmp_path).encode() in text]


def test_weights_are_stored_once(tmp_path: Path) -> None:
    m = ModelWriter()
    rng = np.random.default_rng(0)
    x = m.tensor("x", (1, 6), "s8", scale=0.1)
    w = m.tensor("w", (6, 6), "s8", scale=0.01, data=rng.integers(-127, 128, (6, 6)))
    y = m.tensor("y", (1, 6), "s8", scale=0.1)
    z = m.tensor("z", (1, 6), "s8", scale=0.1)
    m.op("FULLY_CONNECTED", [x, w], [y])
    m.op("FULLY_CONNECTED", [y, w], [z])
    once = build_bytes(m.build([x], [z]), tmp_path)
    matrices = [array for array in once.view.arrays if array.nbytes == 36]
    assert len(matrices) == 1
    assert (once.folder / "model.c").read_text().count(f"= {matrices[0].symbol},") == 2


# hooks, guards, self-test --------------------------------------------------------------------------------------


def test_hooks(tmp_path: Path) -> None:
    built = build("image_net", tmp_path)
    hooks = tmp_path / "hooks.h"
    hooks.write_text(
        "#include <stdio.h>\n"
        '#define MCUGEN_STEP(i) printf("step %d\\n", i)\n'
        '#define MCUGEN_ROWS(s, o, f, n, p) printf("rows %d %d %d %d %d\\n", s, o, f, n, (p) != NULL)\n'
    )
    driver = (
        f'#include "{built.name}.h"\nstatic {built.name}_t m;\nint main(void) {{ {built.name}_run(&m); return 0; }}\n'
    )
    printed = run_checked([built.program(["-include", str(hooks)], driver)]).stdout.decode().split("\n")
    expected = []
    for step in built.view.steps:
        expected.append(f"step {step.index}")
        expected += [f"rows {step.index} {hook.output} 0 {hook.rows} 1" for hook in step.hooks]
    assert printed == [*expected, ""]
    assert len(built.view.steps) >= 5


def test_static_asserts_hold_something(tmp_path: Path) -> None:
    built = build("three_dense", tmp_path)
    source = built.folder / "three_dense.h"
    text = source.read_text()
    source.write_text(text.replace("arena[THREE_DENSE_ARENA_SIZE];", "arena[THREE_DENSE_ARENA_SIZE]; int more;"))
    assert source.read_text() != text
    with pytest.raises(ToolError, match="failed") as caught:
        built.gcc("-std=c99", "-c", "three_dense.c", "-o", tmp_path / "o.o")
    assert "mcugen_assert_" in caught.value.output


def test_runtime_of_another_abi_is_refused(tmp_path: Path) -> None:
    built = build("three_dense", tmp_path)
    runtime = built.folder / built.view.interface
    runtime.write_text(runtime.read_text().replace("#define MCUGEN_RUNTIME_ABI 1", "#define MCUGEN_RUNTIME_ABI 2"))
    with pytest.raises(ToolError) as caught:
        built.gcc("-std=c99", "-c", "three_dense.c", "-o", tmp_path / "o.o")
    assert "generated for mcugen runtime ABI 1" in caught.value.output


# instances -----------------------------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize("model", ["image_net", "digits", "s8_concatenation", "s16_add"])
def test_keep_input(tmp_path: Path, model: str) -> None:
    built = build(model, tmp_path, keep_input=True)
    driver = transform(built.view).replace("fwrite(", "(void)(")
    echo = "".join(f"fwrite({end.function}(&m), 1, {end.macro}_SIZE, stdout);" for end in built.view.inputs)
    driver = driver.replace("return 0; }", f"{echo} return 0; }}")
    inputs = built.inputs(1)
    assert run_checked([built.program(driver=driver)], stdin=inputs).stdout == inputs


def test_a_run_may_overwrite_the_input(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    kept, free = build("three_dense", tmp_path / "kept", keep_input=True), build("three_dense", tmp_path)
    assert free.view.arena_size <= kept.view.arena_size
    assert "overwrites the inputs" in (free.folder / "three_dense.h").read_text()
    assert "leaves the inputs unchanged" in (kept.folder / "three_dense.h").read_text()


def test_instances_are_independent(tmp_path: Path) -> None:
    built = build("image_net", tmp_path)
    name, first, second = built.name, built.inputs(1), built.inputs(2)
    expected = [run_checked([built.program()], stdin=data).stdout for data in (first, second)]
    size = f"{built.view.inputs[0].macro}_SIZE"
    out = f"{built.view.outputs[0].macro}_SIZE"
    driver = f"""#include <stdio.h>
#include <pthread.h>
#include "{name}.h"
static {name}_t m[2], started[2];
static void *work(void *p) {{
    {name}_t *const mine = p;
    for (int i = 0; i < 50; i += 1) {{
        memcpy(mine, mine == &m[0] ? &started[0] : &started[1], sizeof *mine);
        {name}_run(mine);
    }}
    return NULL;
}}
int main(void) {{
    pthread_t t[2];
    for (int k = 0; k < 2; k += 1) if (fread({name}_input(&started[k]), 1, {size}, stdin) != {size}) return 1;
    for (int k = 0; k < 2; k += 1) if (pthread_create(&t[k], NULL, work, &m[k])) return 1;
    for (int k = 0; k < 2; k += 1) pthread_join(t[k], NULL);
    for (int k = 0; k < 2; k += 1) fwrite({name}_output(&m[k]), 1, {out}, stdout);
    return 0;
}}
"""
    assert expected[0] != expected[1]
    for flags in (["-O2", "-pthread"], ["-O1", "-g", "-pthread", "-fsanitize=thread"]):
        program = built.program(flags, driver)
        done = run([*(["setarch", "-R"] if "-g" in flags else []), program], stdin=first + second)
        assert done.returncode == 0, done.text
        assert done.stdout == b"".join(expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("amalgamate", [False, True])
def test_two_models_in_one_program(tmp_path: Path, amalgamate: bool) -> None:
    builds = []
    for model in ("image_net", "three_dense"):
        (tmp_path / model).mkdir()
        builds.append(build(model, tmp_path / model, amalgamate=amalgamate))
    a, b = builds
    expected = [run_checked([x.program()], stdin=x.inputs()).stdout for x in builds]
    body = "".join(_part(x) for x in builds)
    heads = f'#include <stdio.h>\n#include "{a.name}.h"\n#include "{b.name}.h"\n'
    main = tmp_path / "both.c"
    main.write_text(f"{heads}{body}int main(void) {{ return do_{a.name}() + do_{b.name}(); }}\n")
    files = {s if s.startswith("kernels/") else str(x.folder / s): x.folder / s for x in builds for s in x.sources()}
    flags = ["-std=c99", "-O2", *WARNINGS, f"-I{a.folder}", f"-I{b.folder}"]
    shutil.copytree(b.folder / "mcugen", a.folder / "mcugen", dirs_exist_ok=True) if not amalgamate else None
    run_checked(["gcc", *flags, main, *files.values(), "-lm", "-o", tmp_path / "both"])
    assert run_checked([tmp_path / "both"], stdin=a.inputs() + b.inputs()).stdout == b"".join(expected)


def _part(built: Built) -> str:
    """A function that reads, runs and writes one model."""
    name, macro = built.name, built.view.macro
    return f"""static {name}_t m_{name};
static int do_{name}(void) {{
    if (fread({name}_input(&m_{name}), 1, {macro}_INPUT_SIZE, stdin) != {macro}_INPUT_SIZE) return 1;
    {name}_run(&m_{name});
    return fwrite({name}_output(&m_{name}), 1, {macro}_OUTPUT_SIZE, stdout) != {macro}_OUTPUT_SIZE;
}}
"""


def test_main_is_where_no_glob_over_sources_finds_it(plain: Built) -> None:
    sources = [path for path in plain.artifact.files if path.endswith((".c", ".h"))]
    holding = [path for path in sources if b"int main(" in plain.artifact.files[path]]
    assert holding == [EXAMPLE] and EXAMPLE.startswith("examples/")  # a folder that Arduino and PlatformIO leave out


@pytest.mark.sampled(4)
def test_example_main_runs(plain: Built, tmp_path: Path) -> None:
    text = (plain.folder / EXAMPLE).read_text()
    command = re.search(r"gcc .*? -lm$", text.replace("\\\n *", " "), re.MULTILINE)
    assert command is not None and max(map(len, text.splitlines())) <= 120
    run_checked([*command[0].split(), "-o", tmp_path / "example"], cwd=plain.folder)
    printed = run_checked([tmp_path / "example"]).stdout.decode().splitlines()
    assert len(printed) == sum(end.length for end in plain.view.outputs)


# wording of the code -----------------------------------------------------------------------------------------

NEUTRAL = re.compile(r"\* 1u?\b(?!\.)|[+-] 0u?\b|% 1u\b|= \(-\d+\)|[(,] \(-\d+\)")


@pytest.mark.parametrize("choices", [{}, {"optimize": "ram"}, {"input_mode": "rows"}, {"board": "cortex-m4"}], ids=str)
def test_code_has_no_terms_that_change_nothing(tmp_path: Path, choices: dict[str, str]) -> None:
    text = (build("digits", tmp_path, **choices).folder / "digits.c").read_text()
    assert not [line for line in text.splitlines() if NEUTRAL.search(line)]
    assert not [line for line in text.splitlines() if line != line.rstrip() or len(line) > 400]
    helpers = re.findall(r"^static MCUGEN_INLINE .*?(\w+)\($", text, re.MULTILINE)
    assert len(helpers) == len(set(helpers)) and all(text.count(f"{name}(") > 1 for name in helpers)


def test_no_comment_leads_into_the_source_of_mcugen(plain: Built) -> None:
    for path, text in plain.artifact.files.items():
        assert not re.search(rb"reference_q|\w\.py\b|mcugen/(ops|kernels|emit)", text), path


def test_constants_say_how_they_are_laid_out(tmp_path: Path) -> None:
    text = (build("image_net", tmp_path, board="cortex-m0plus").folder / "image_net_weights.c").read_text()
    described = re.findall(r"^/\* weights of step \d+: (.+)", text, re.MULTILINE)
    assert described and all("[" in layout or "per channel" in layout for layout in described)


BIG_ENDIAN = ["-U__BYTE_ORDER__", "-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("family", ["dsp", "helium"])
def test_kernels_that_pack_words_refuse_big_endian_machines(tmp_path: Path, family: str) -> None:
    (tmp_path / "mcugen").mkdir()
    for name, file in resources.c_files().items():
        (tmp_path / "mcugen" / name).write_text(file.text, encoding="utf-8")
    headers = [p for p in (resources.c_runtime() / "mcugen" / family).glob("*.h") if "_params;" in p.read_text()]
    assert headers
    for header in headers:
        (tmp_path / "unit.c").write_text(f'#include "mcugen/{header.name}"\n')
        command = ["gcc", f"-I{tmp_path}", "-fsyntax-only", tmp_path / "unit.c"]
        run_checked(command)
        done = run([*command, *BIG_ENDIAN])
        assert done.returncode != 0 and "little-endian" in done.text, header.name
