"""Every rule for the C text catches a planted violation, at its line, and clean code passes all of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mcugen.emit.c_unit import parse
from mcugen.emit.check_c import (
    CHECK_FLAGS,
    FLOAT_HEADERS,
    RULES,
    Violation,
    check_files,
    check_includes,
    check_recursion,
    check_source,
)
from mcugen.emit.stub_headers import stubs
from tests.support import runtime

PRELUDE = """#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef struct { int32_t n; int32_t dims[2]; const int32_t *mult; } params;
typedef const params fixed;
int32_t get(int32_t x); void put(int32_t *to); void read(const int32_t *from);
"""


def preprocess(path: Path) -> str:
    """The input of the checks: one file with its headers, extensions hidden."""
    command = ["gcc", *CHECK_FLAGS, f"-I{stubs()}", f"-I{runtime.include()}", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def violations(tmp_path: Path, code: str) -> list[Violation]:
    path = tmp_path / "sample.c"
    path.write_text(PRELUDE + code)
    return check_source(preprocess(path), "sample.c")


def body(code: str) -> str:
    return f"void f(fixed *p, params *q, int32_t n, int8_t *out)\n{{\n    (void)p; (void)q;\n{code}\n}}\n"


PLANTED = [
    # A line marked /*!*/ breaks the rule; each sample breaks that rule only.
    ("only_for_loops", body("while (n > 0) { --n; } /*!*/")),
    ("only_for_loops", body("do { --n; } while (n > 0); /*!*/")),
    ("loop_form", body("for (;;) { break; } /*!*/")),
    ("loop_form", body("int32_t i; for (i = 0; i < n; ++i) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0, j = 0; i < n; ++i) { out[j] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; n > i; ++i) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i != n; ++i) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i < n && out[i] != 0; ++i) { } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i < n;) { break; } /*!*/")),
    ("loop_form", body("for (int32_t i = 1; i < n; i *= 2) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i < n; ++n) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i < n; --i) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i < n; i += 0) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i < n; i += -1) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i < i + 1; i += 1) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i < n; i += i) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i < get(n); ++i) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (int32_t i = 0; i < (n = 3); ++i) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (float x = 0.0f; x < 1.0f; x += 0.1f) { *out = 0; } /*!*/")),
    ("loop_form", body("for (uint32_t i = 9u; i >= 0u; --i) { out[i] = 0; } /*!*/")),
    ("loop_form", body("for (uint32_t i = 9u; i > 0u; i -= 2u) { out[i] = 0; } /*!*/")),
    ("loop_counter_kept", body("for (int32_t i = 0; i < n; ++i) {\n i = 0; /*!*/\n}")),
    ("loop_counter_kept", body("for (int32_t i = 0; i < n; ++i) {\n if (n) { i--; } /*!*/\n}")),
    ("loop_counter_kept", body("for (int32_t i = 0; i < n; ++i) {\n put(&i); /*!*/\n}")),
    ("loop_bound_kept", body("for (int32_t i = 0; i < n; ++i) {\n n += 1; /*!*/\n}")),
    ("loop_bound_kept", body("for (int32_t i = 0; i < 2 * n - 1; ++i) {\n put(&n); /*!*/\n}")),
    ("loop_bound_kept", body("for (int32_t i = 0; i < 8; i += n) {\n n = 0; /*!*/\n}")),
    ("loop_bound_kept", body("for (int32_t i = 0; i < q->n; ++i) { *out = 0; } /*!*/")),
    ("loop_bound_kept", body("for (int32_t i = 0; i < *out; ++i) { *out = 0; } /*!*/")),
    ("loop_bound_kept", body("for (int32_t i = 0; i < out[0]; ++i) { out[0] = 99; } /*!*/")),
    ("loop_bound_kept", body("for (int32_t i = 0; i < p->n; ++i) {\n p = q; /*!*/\n}")),
    ("loop_bound_kept", body("params c = {0};\nfor (int32_t i = 0; i < c.n; ++i) {\n c.n += 1; /*!*/\n}")),
    ("loop_bound_kept", body("int32_t d[2] = {1, 2};\nfor (int32_t i = 0; i < d[1]; ++i) {\n put(d); /*!*/\n}")),
    ("no_goto", body("if (n) {\n goto end; /*!*/\n}\n end: /*!*/\n *out = 0;")),
    ("no_heap", "void *malloc(size_t n); /*!*/\n" + body("out = malloc(4u); /*!*/")),
    ("no_heap", "void free(void *p); /*!*/\n" + body("free(out); /*!*/")),
    ("no_system_calls", "int puts(const char *s); /*!*/\n" + body('puts("x"); /*!*/')),
    ("no_system_calls", "int setjmp(int *buffer); /*!*/\n" + body("setjmp(0); /*!*/")),
    ("no_varargs", "void log_it(int32_t level, ...); /*!*/\n"),
    ("calls_declared", body("mystery(n); /*!*/")),
    ("calls_declared", body("__builtin_trap(); /*!*/")),
    ("no_function_pointers", body("int32_t (*g)(int32_t) = 0; *out = (int8_t)(g == 0); /*!*/")),
    ("no_function_pointers", "void h(int32_t (*g)(int32_t)); /*!*/\n"),
    (
        "no_function_pointers",
        "typedef void fn(void); struct s { fn *go; }; void h(const struct s *s) { s->go(); } /*!*/\n",
    ),
    ("no_function_pointers", body("*out = (int8_t)(get == 0); /*!*/")),
    ("no_function_pointers", body("((void (*)(void))(uintptr_t)n)(); /*!*/")),
    ("no_variable_arrays", body("int8_t a[n]; /*!*/\n(void)a;")),
    ("no_variable_arrays", "void h(int32_t n, int8_t a[n]); /*!*/\n"),
    ("no_variable_arrays", body("*out = (*(int8_t (*)[2][n])out)[0][0]; /*!*/")),
    ("no_mutable_statics", "int32_t counter; /*!*/\n"),
    ("no_mutable_statics", "static int8_t state[4]; /*!*/\n"),
    ("no_mutable_statics", "extern params shared; /*!*/\n"),
    ("no_mutable_statics", "static const char *name; /*!*/\n"),
    ("no_mutable_statics", body("static int32_t calls = 0; /*!*/\n(void)calls;")),
    ("calls_declared", body('__asm__("nop"); /*!*/')),
    ("plain_c99", body('__asm__ volatile("" : "+r"(n)); /*!*/')),
    ("plain_c99", "__attribute__((noinline)) void h(void); /*!*/\n"),
]


@pytest.mark.parametrize(("rule", "code"), PLANTED, ids=[f"{i}-{rule}" for i, (rule, _) in enumerate(PLANTED)])
def test_planted_violation_is_caught(tmp_path: Path, rule: str, code: str) -> None:
    found = violations(tmp_path, code)
    marked = [i for i, line in enumerate((PRELUDE + code).splitlines(), start=1) if "/*!*/" in line]
    assert {v.rule for v in found} == {rule}, found
    assert sorted({v.line for v in found}) == marked, found
    assert {Path(v.file).name for v in found} == {"sample.c"}


def test_every_rule_has_a_planted_violation_and_a_message() -> None:
    assert {rule.__name__ for rule in RULES} <= {rule for rule, _ in PLANTED}
    assert all(rule.__doc__ and "\n" not in rule.__doc__ for rule in RULES)


CLEAN = [
    "for (int32_t i = 0; i < n; ++i) { out[i] = 0; }",
    "for (uint32_t i = 0u; i <= (uint32_t)n; i += 2u) { out[i] = 0; }",
    "for (int32_t i = n - 1; i >= 0; --i) { out[i] = 0; }",
    "for (int32_t i = n; i > 0; i -= 1) { out[i - 1] = 0; }",
    "for (int32_t i = 0; i < p->n; i += p->dims[1]) { *out++ = 0; q->n = 3; }",
    "for (int32_t i = 0; i < p->mult[1]; i++) { put(&q->n); }",
    "for (const int8_t *x = out; x < out + n; x += 4) { put(&q->n); }",
    "for (int8_t *x = out; x < out + 4; ++x) { *x = 0; }",
    "for (int32_t i = 0; i < n; ++i) { for (int32_t j = i; j < n; j += 1) { if (out[j]) { break; } } }",
    "const params c = *q; for (int32_t i = 0; i < c.n; ++i) { out[i] = (int8_t)c.dims[0]; }",
    "int32_t d[2] = {1, 2}; for (int32_t i = 0; i < d[0]; ++i) { out[i] = 0; } d[0] = 3; put(d);",
    "int8_t a[4] = {0}; for (size_t i = 0; i < sizeof(a) / sizeof(a[0]); ++i) { a[i] = 1; }",
    "for (int32_t i = 0; i < (n > 4 ? n : 4); ++i) { if (i == 2) { continue; } out[i] = 0; }",
    "n += 1; put(&n); for (int32_t i = 0; i < n; ++i) { out[i] = 0; } n = 0;",
    "switch (n) { case 1: get(n); break; default: memset(out, 0, sizeof *out); break; }",
    "enum { LENGTH = 4 }; int8_t a[LENGTH * sizeof(int32_t)]; memcpy(out, a, sizeof(a));",
    "static const int8_t table[] = {1, 2}; memcpy(out, &(const int8_t){3}, 1u); *out = table[n & 1];",
]


@pytest.mark.parametrize("code", CLEAN)
def test_clean_body_passes(tmp_path: Path, code: str) -> None:
    assert violations(tmp_path, body(code)) == []


def test_const_table_of_functions_is_lawful(tmp_path: Path) -> None:
    code = """
static int32_t one(int32_t x) { return x + 1; }
static int32_t two(int32_t x) { return x + 2; }
static int32_t (*const table[2])(int32_t) = {one, two};
typedef struct { int32_t (*run)(int32_t); } step;
static const step steps[] = {{.run = one}, {two}};
extern const int32_t weights[4];
const int32_t weights[4] = {1, 2, 3, 4};
int32_t call(int32_t i);
int32_t call(int32_t i) { return table[i](i) + steps[i].run(weights[i]); }
"""
    assert violations(tmp_path, code) == []


def test_mutable_table_of_functions_is_not(tmp_path: Path) -> None:
    found = violations(tmp_path, "int32_t (*table[1])(int32_t) = {get};\n")
    assert {v.rule for v in found} == {"no_function_pointers", "no_mutable_statics"}


def test_violation_reads_like_a_compiler_message(tmp_path: Path) -> None:
    (found,) = violations(tmp_path, "int32_t counter;\n")
    assert str(found).endswith(
        "sample.c:7: objects that outlive a call are const: all at file scope, and static locals: counter"
        " [no_mutable_statics]"
    )


def test_violation_in_a_header_names_the_header(tmp_path: Path) -> None:
    (tmp_path / "model.h").write_text("#include <stdint.h>\n\nstatic int32_t hidden;\n")
    source = tmp_path / "model.c"
    source.write_text('#include "model.h"\n')
    (found,) = check_source(preprocess(source), "model.c", allowed_headers={"stdint.h", "model.h"})
    assert (Path(found.file).name, found.line, found.rule) == ("model.h", 3, "no_mutable_statics")


@pytest.mark.parametrize(
    "line",
    [
        "#include <stdio.h>",
        "  #  include <stdlib.h>",
        '#include "other.h"',
        "#include <math.h>",
        "%:include <stdio.h>",
        "#include_next <stdint.h>",
        "#import <stdint.h>",
        "#include HEADER",
        "#include",
        "#include <mcugen/../../stdio.h>",
        "/* */ #include <stdio.h>",
    ],
)
def test_header_outside_the_list_is_caught(line: str) -> None:
    (found,) = check_includes(f"/* first\n * line */\n{line}\n", "kws.c")
    assert (found.line, found.rule, found.file) == (3, "listed_headers", "kws.c")


def test_listed_headers_pass() -> None:
    text = (
        '#include <stdint.h>\n#include "kws.h"\n#include "mcugen/conv2d_s8.h" /* kernels */\n'
        '/* #include <stdio.h> */\n// #include <stdio.h>\n#define TEXT "/*"\n#include <math.h>\n'
    )
    assert check_includes(text, "kws.c", allowed_headers=FLOAT_HEADERS | {"kws.h"}) == []


def test_header_read_through_another_is_caught(tmp_path: Path) -> None:
    (tmp_path / "stdio.h").write_text("int unused(void);\n")
    (tmp_path / "own.h").write_text("#include <stdio.h>\n")
    source = tmp_path / "own.c"
    source.write_text('#include "own.h"\n')
    text = subprocess.run(
        ["gcc", *CHECK_FLAGS, f"-I{tmp_path}", str(source)], capture_output=True, text=True, check=True
    ).stdout
    (found,) = check_source(text, "own.c", allowed_headers={"own.h"})
    assert found.text == "only listed headers are included: stdio.h"


def test_direct_recursion_is_caught() -> None:
    (found,) = check_recursion([parse("\nint f(int n) { return n ? f(n - 1) : 0; }", "a.c")])
    assert (found.line, found.rule, found.file) == (2, "no_recursion", "a.c")
    assert found.text.endswith("f -> f")


def test_recursion_across_files_is_caught() -> None:
    a = parse("int g(int); int f(int n) { return g(n); }", "a.c")
    b = parse("int f(int); static int h(int n) { return f(n); } int g(int n) { return h(n); }", "b.c")
    assert check_recursion([a]) == []
    assert check_recursion([b]) == []
    (found,) = check_recursion([a, b])
    assert {"f", "g", "h"} <= set(found.text.replace("->", " ").split())


def test_recursion_through_a_const_table_is_caught() -> None:
    text = "int f(int n); static int (*const t[])(int) = {f}; int f(int n) { return n ? t[0](n - 1) : 0; }"
    (found,) = check_recursion([parse(text, "a.c")])
    assert found.text.endswith("f -> f")


def test_static_functions_of_one_name_are_different_functions() -> None:
    a = parse("int g(void); static int f(void) { return g(); } int a(void) { return f(); }", "a.c")
    b = parse("static int f(void) { return 1; } int g(void) { return f(); }", "b.c")
    assert check_recursion([a, b]) == []


def test_check_files_joins_all_checks() -> None:
    sources = {
        "a.c": "int g(int); int f(int n) { return g(n); }",
        "b.c": "int f(int); int g(int n) { return f(n); } int state;",
        "c.c": "this is no C",
    }
    assert {v.rule for v in check_files(sources)} == {"no_mutable_statics", "plain_c99", "no_recursion"}


def test_runtime_obeys_the_rules(pytestconfig: pytest.Config) -> None:
    """Every fourth source; with --whole, all of them."""
    files = runtime.sources()[:: 1 if pytestconfig.getoption("--whole") else 4]
    assert files
    assert check_files({str(f): preprocess(f) for f in files}, allowed_headers=FLOAT_HEADERS) == []


def test_stub_headers_parse_and_are_all_listed(tmp_path: Path) -> None:
    names = sorted(path.name for path in stubs().glob("*.h"))
    assert set(names) == FLOAT_HEADERS
    source = tmp_path / "all.c"
    source.write_text("".join(f"#include <{name}>\n" for name in names) + "bool on(float x);\n")
    assert check_source(preprocess(source), "all.c", allowed_headers=FLOAT_HEADERS) == []
