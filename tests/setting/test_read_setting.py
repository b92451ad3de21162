"""Settings as users write them, and every mistake they can make in one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from obda_bm.diagnostics import Diagnostic, SettingError
from obda_bm.ir.catalog import Column, Extent, Source
from obda_bm.ir.sqltypes import DATE, INTEGER, TIMESTAMP, decimal, instant
from obda_bm.setting import Setting, read_setting
from obda_bm.setting.mistakes import Mistake

TURBINES = """
[ontology]
file = "turbines.ttl"
[mapping]
file = ["a.ttl", "maps/b.ttl"]

[streams.temperature]
time = "ts"
columns = { sensor = "INTEGER", value = "DECIMAL(5,1)", ts = "TIMESTAMP" }
check = ["value BETWEEN -50 AND 150", 'sensor > 0']
key = ["sensor", "ts"]
end = "2026-01-01T00:00:00"
source = { format = "parquet", path = "data/temperature", maxFiles = 2, header = true }

[relations.sensor]
columns = { id = "INTEGER", turbine = "INTEGER" }
key = ["id"]
rows = 1200
source = { format = "jdbc", url = "…", table = "sensor" }
"""

Read = Callable[[str], Setting]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read_text(text: str) -> Setting:
        path = tmp_path / "obda.toml"
        path.write_bytes(text.encode())
        return read_setting(path)

    return read_text


def mistakes(read: Read, text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(SettingError) as caught:
        read(text)
    assert all(mistake.hint and mistake.span for mistake in caught.value.diagnostics)
    return caught.value.diagnostics


def test_the_contract(read: Read, tmp_path: Path) -> None:
    setting = read(TURBINES)
    assert setting.directory == tmp_path
    assert setting.ontologies == (tmp_path / "turbines.ttl",)
    assert setting.mappings == (tmp_path / "a.ttl", tmp_path / "maps/b.ttl")
    temperature, sensor = setting.catalog.relations
    assert temperature.columns == (
        Column("sensor", INTEGER, nullable=False),
        Column("value", decimal(5, 1)),
        Column("ts", TIMESTAMP, nullable=False),
    )
    assert (temperature.name, temperature.time, temperature.extent) == (
        "temperature",
        "ts",
        Extent.FINITE,
    )
    assert temperature.keys == (("sensor", "ts"),)
    assert temperature.end == instant("2026-01-01")
    assert temperature.source == Source(
        "parquet", (("path", "data/temperature"), ("maxFiles", 2), ("header", True))
    )
    assert (sensor.extent, sensor.time, sensor.end) == (Extent.STATIC, None, None)
    assert sensor.rows == 1200
    assert sensor.columns[1] == Column("turbine", INTEGER)


def test_spans_show_the_declaration(read: Read) -> None:
    temperature = read(TURBINES).catalog.relations[0]
    assert temperature.span is not None
    assert temperature.span.text == "temperature"
    assert [c.span.text for c in temperature.columns if c.span][1] == 'value = "DECIMAL(5,1)"'


def test_a_check_is_the_text_between_the_quotes(read: Read) -> None:
    setting = read(TURBINES)
    assert [(c.relation, c.text) for c in setting.checks] == [
        ("temperature", "value BETWEEN -50 AND 150"),
        ("temperature", "sensor > 0"),
    ]
    assert all(check.span.text == check.text for check in setting.checks)
    assert setting.checks[0].span.source is setting.source


def test_a_check_with_escapes_keeps_its_text_apart(read: Read) -> None:
    (check,) = read('[relations.r]\ncolumns.a = "TEXT"\ncheck = "a <> \'\\u0041\'"').checks
    assert (check.text, check.span.text) == ("a <> 'A'", "a <> '\\u0041'")


def test_an_empty_list_of_checks_or_files_is_none(read: Read) -> None:
    setting = read("ontology.file = []\n[relations.r]\ncolumns.a = 'TEXT'\ncheck = []")
    assert (setting.checks, setting.ontologies, setting.mappings) == ((), (), ())


def test_sub_tables_and_inline_tables_say_the_same(read: Read) -> None:
    nested = '[streams.s]\ntime = "t"\n[streams.s.columns]\nt = "INTEGER"\n[streams.s.source]\n'
    inline = 'streams = { s = { time = "t", columns = { t = "INTEGER" }, source.format = "rate" } }'
    assert read(nested + 'format = "rate"').catalog == read(inline).catalog


def test_quoted_names(read: Read) -> None:
    (relation,) = read('[relations."a.b"]\ncolumns = { "Länge [m]" = "REAL" }').catalog.relations
    assert (relation.name, relation.columns[0].name) == ("a.b", "Länge [m]")


def test_windows_line_ends(read: Read) -> None:
    assert read(TURBINES.replace("\n", "\r\n")).catalog == read(TURBINES).catalog


def test_several_keys(read: Read) -> None:
    setting = read(
        '[relations.r]\ncolumns = { a = "INTEGER", b = "INTEGER", c = "INTEGER" }\n'
        'key = [["a"], ["b", "a"]]'
    )
    (relation,) = setting.catalog.relations
    assert relation.keys == (("a",), ("b", "a"))
    assert [column.nullable for column in relation.columns] == [False, False, True]


@pytest.mark.parametrize(
    ("type_", "end", "ticks"),
    [
        ("INTEGER", "0", 0),
        ("BIGINT NOT NULL", "17", 17),
        ("DECIMAL(12,0)", "17", 17),
        ("TIMESTAMP", "2026-01-01T12:00:00Z", instant("2026-01-01T12:00")),
        ("TIMESTAMP", "2026-01-01 12:00:00", instant("2026-01-01T12:00")),
        ("TIMESTAMPTZ", '"2026-01-01T12:00:00+02:00"', instant("2026-01-01T10:00")),
        ("DATE", "2026-01-01", instant("2026-01-01")),
        ("DATE", '"2026-01-01"', instant("2026-01-01")),
    ],
)
def test_ends(read: Read, type_: str, end: str, ticks: int) -> None:
    setting = read(f'[streams.s]\ntime = "t"\ncolumns = {{ t = "{type_}" }}\nend = {end}')
    assert setting.catalog.relations[0].end == ticks
    assert setting.catalog.relations[0].extent is Extent.FINITE


def test_a_stream_without_end_is_infinite(read: Read) -> None:
    (stream,) = read('[streams.s]\ntime = "t"\ncolumns = { t = "DATE" }').catalog.relations
    assert (stream.extent, stream.columns[0].type) == (Extent.INFINITE, DATE)


STREAM = '[streams.s]\ntime = "t"\ncolumns = { t = "TIMESTAMP", n = "INTEGER", x = "REAL" }\n'
TICKS = STREAM.replace('"t"', '"n"')
RELATION = '[relations.r]\ncolumns = { a = "INTEGER", b = "TEXT" }\n'


@pytest.mark.parametrize(
    ("text", "mistake", "underlined", "message", "hint"),
    [
        ("a =", Mistake.NOT_TOML, "", "invalid value", "Put text in quotes"),
        ("a = x\n", Mistake.NOT_TOML, "x", "invalid value", "Put text in quotes"),
        ("[r]\na = 1\n[r]", Mistake.NOT_TOML, "]", "cannot declare r twice", "once only"),
        ("[a.b]\n[a.b]\n", Mistake.NOT_TOML, "]", "cannot declare a.b twice", "once only"),
        ("a = 'x\n", Mistake.NOT_TOML, "\n", 'expected "\'"', "Close the string"),
        ('a = "x\n', Mistake.NOT_TOML, "\n", "illegal character '\\n'", "Close the string"),
        ('a = """x\n\n', Mistake.NOT_TOML, "\n", "unterminated string", "Close the string"),
        ("a = '\\x'\nb = \"\\x\"", Mistake.NOT_TOML, '"', "unescaped", "single quotes"),
        ("\r\na = ?", Mistake.NOT_TOML, "?", "invalid value", "Put text in quotes"),
        (f"a = {'9' * 5000}", Mistake.NOT_TOML, "9" * 5000, "too many digits", "shorter"),
        ("b = 1\na = " + "[" * 9999, Mistake.NOT_TOML, "a = " + "[" * 9999, "nested", "levels"),
        ("", Mistake.NOTHING_DECLARED, "", "no streams and no relations", "[streams.NAME]"),
        ("[streams]", Mistake.NOTHING_DECLARED, "", "no streams", "[relations.NAME]"),
        ("[steams.s]", Mistake.UNKNOWN_KEY, "steams", "unknown key 'steams'", "'streams'"),
        (
            RELATION + "[mapping]\nfile = 'm'\nfil = 1",
            Mistake.UNKNOWN_KEY,
            "fil",
            "'fil'",
            "'file'",
        ),
        (RELATION + "[ontology]\nfile = 'o'\nx = 1", Mistake.UNKNOWN_KEY, "x", "'x'", "Known here"),
        (STREAM + "chek = []", Mistake.UNKNOWN_KEY, "chek", "unknown key 'chek'", "'check'"),
        (RELATION + 'time = "a"', Mistake.UNKNOWN_KEY, "time", "'time'", "columns, check, key"),
        (RELATION + '"" = 1', Mistake.UNKNOWN_KEY, '""', "unknown key ''", "Known here"),
        ("[relations.r]", Mistake.MISSING_KEY, "r", "relations.r has no key 'columns'", "Add"),
        ("[streams.s]\ncolumns.t = 'DATE'", Mistake.MISSING_KEY, "s", "no key 'time'", "Add time"),
        (RELATION + "[mapping]", Mistake.MISSING_KEY, "mapping", "no key 'file'", "Add file"),
        (RELATION + "source = {}", Mistake.MISSING_KEY, "source", "no key 'format'", "parquet"),
        ("streams = 1", Mistake.WRONG_TOML_TYPE, "1", "expected a table, found an integer", "["),
        ("streams.s = 1", Mistake.WRONG_TOML_TYPE, "1", "expected a table", "[streams.s]"),
        ("[[relations.r]]", Mistake.WRONG_TOML_TYPE, "r", "found a list", "[relations.r]"),
        (RELATION + "[ontology]\nfile = 1", Mistake.WRONG_TOML_TYPE, "1", "a string", "file ="),
        (RELATION + "mapping = 'm'", Mistake.UNKNOWN_KEY, "mapping", "'mapping'", "Known here"),
        ("mapping = 'm'\n" + RELATION, Mistake.WRONG_TOML_TYPE, "'m'", "a table", "[mapping]"),
        ("relations.r.columns = 'x'", Mistake.WRONG_TOML_TYPE, "'x'", "a table", "columns ="),
        ("relations.r.columns = {a = true}", Mistake.WRONG_TOML_TYPE, "true", "a boolean", "type"),
        (RELATION + "key = 'a'", Mistake.WRONG_TOML_TYPE, "'a'", "expected a list", "key = ["),
        (RELATION + "key = [1]", Mistake.WRONG_TOML_TYPE, "1", "expected a string", "key = ["),
        (RELATION + "key = [['a'], 'b']", Mistake.WRONG_TOML_TYPE, "'b'", "a list", "lists"),
        (RELATION + "check = 1.5", Mistake.WRONG_TOML_TYPE, "1.5", "found a float", "check ="),
        (RELATION + "check = ['a > 1', []]", Mistake.WRONG_TOML_TYPE, "[]", "a list", "check ="),
        (RELATION + "rows = true", Mistake.WRONG_TOML_TYPE, "true", "an integer", "rows"),
        (RELATION + "rows = 1e3", Mistake.WRONG_TOML_TYPE, "1e3", "found a float", "rows"),
        (RELATION + "source = 'x'", Mistake.WRONG_TOML_TYPE, "'x'", "a table", "format"),
        (RELATION + "source.format = 1", Mistake.WRONG_TOML_TYPE, "1", "a string", "format"),
        (
            RELATION + "source = { format = 'f', o = 07:00:00 }",
            Mistake.WRONG_TOML_TYPE,
            "07:00:00",
            "found a time",
            "option",
        ),
        (STREAM.replace('"t"', "1"), Mistake.WRONG_TOML_TYPE, "1", "a string", "time ="),
        (STREAM + "end = 5", Mistake.WRONG_TOML_TYPE, "5", "expected a timestamp", "2026"),
        (STREAM + "end = 07:32:00", Mistake.WRONG_TOML_TYPE, "07:32:00", "found a time", "2026"),
        (TICKS + "end = '5'", Mistake.WRONG_TOML_TYPE, "'5'", "an integer", "INTEGER"),
        ('[relations.""]\ncolumns.a = "REAL"', Mistake.BAD_IDENTIFIER, '""', "''", "visible"),
        ("relations.r.columns.' ' = 'REAL'", Mistake.BAD_IDENTIFIER, "' '", "' '", "visible"),
        (
            r'relations.r.columns."a\n" = "REAL"',
            Mistake.BAD_IDENTIFIER,
            r'"a\n"',
            "name",
            "control",
        ),
        (STREAM + "[relations.s]\ncolumns.a = 'REAL'", Mistake.NAME_CLASH, "s", "twice", "line 1"),
        (STREAM + "[relations.S]\ncolumns.a = 'REAL'", Mistake.NAME_CLASH, "S", "case", "line 1"),
        (
            "[relations.r]\ncolumns = {\n} # {}".replace("\n}", " a = 'REAL', A = 'REAL' }"),
            Mistake.NAME_CLASH,
            "A",
            "'A' differs from 'a' only in case",
            "Rename",
        ),
        ("relations.r.columns = {}", Mistake.NO_COLUMNS, "{}", "no columns", "columns ="),
        ("relations.r.columns.a = 'INTEGR'", Mistake.BAD_SQL_TYPE, "'INTEGR'", "unk", "'INTEGER'"),
        (STREAM.replace('"t"', '"T"'), Mistake.UNKNOWN_COLUMN, '"T"', "no column 'T'", "'t'"),
        (RELATION + "key = ['c']", Mistake.UNKNOWN_COLUMN, "'c'", "no column", "columns are a, b"),
        (STREAM.replace('"t"', '"x"'), Mistake.BAD_TIME_COLUMN, '"x"', "type REAL", "TIMESTAMP"),
        (RELATION + "key = []", Mistake.BAD_KEY, "[]", "without columns", "key = ["),
        (RELATION + "key = [['a'], []]", Mistake.BAD_KEY, "[]", "without columns", "key = ["),
        (RELATION + "key = ['a', 'b', \"a\"]", Mistake.BAD_KEY, '"a"', "already", "once"),
        (STREAM + "end = 'soon'", Mistake.BAD_END, "'soon'", "ISO 8601", "2026"),
        (STREAM + "end = ''", Mistake.BAD_END, "''", "ISO 8601", "2026"),
        (
            STREAM + "end = 0001-01-01T00:00:00+14:00",
            Mistake.BAD_END,
            "0001-01-01T00:00:00+14:00",
            "years 1 to 9999",
            "2026",
        ),
        (
            STREAM.replace("TIMESTAMP", "DATE") + "end = '2026-01-01T12:00'",
            Mistake.BAD_END,
            "'2026-01-01T12:00'",
            "time of day",
            "last day",
        ),
        (TICKS + "end = -1", Mistake.NUMBER_OUT_OF_RANGE, "-1", "less than 0", "INTEGER"),
        (RELATION + "rows = 0", Mistake.NUMBER_OUT_OF_RANGE, "0", "less than 1", "rows"),
        (
            RELATION + f"rows = 0x{'F' * 9000}",
            Mistake.NUMBER_OUT_OF_RANGE,
            f"0x{'F' * 9000}",
            "64 bits",
            "rows",
        ),
        (
            RELATION + "source = { format = 'f', o = 9223372036854775808 }",
            Mistake.NUMBER_OUT_OF_RANGE,
            "9223372036854775808",
            "64 bits",
            "option",
        ),
        (
            RELATION + "[ontology]\nfile = ' '",
            Mistake.BAD_FILE_NAME,
            "' '",
            "file name",
            "relative",
        ),
        (
            RELATION + '[mapping]\nfile = ["m", "\\u0000"]',
            Mistake.BAD_FILE_NAME,
            '"\\u0000"',
            "file name",
            "relative",
        ),
        (RELATION + "check = ''", Mistake.BLANK_TEXT, "''", "blank", "check ="),
        (RELATION + "source.format = ''", Mistake.BLANK_TEXT, "''", "blank", "format"),
    ],
)
def test_mistake(
    read: Read, text: str, mistake: Mistake, *, underlined: str, message: str, hint: str
) -> None:
    (found,) = mistakes(read, text)
    assert found.code == mistake.value
    assert found.span is not None
    assert found.span.text == underlined
    assert message in found.message
    assert found.hint is not None
    assert hint in found.hint


def test_all_mistakes_are_told_at_once_in_the_order_of_the_text(read: Read) -> None:
    text = (
        "[ontology]\nfil = 'o'\n[streams.s]\ntime = 't'\ncolumns.x = 'REEL'\nkey = ['y']\n"
        "rows = 0\nend = 'soon'\nsource.path = []\n[relations.S]\n"
    )
    assert [mistake.code for mistake in mistakes(read, text)] == [
        Mistake.MISSING_KEY.value,  # file
        Mistake.UNKNOWN_KEY.value,  # fil
        Mistake.UNKNOWN_COLUMN.value,  # t
        Mistake.BAD_SQL_TYPE.value,  # REEL
        Mistake.UNKNOWN_COLUMN.value,  # y
        Mistake.NUMBER_OUT_OF_RANGE.value,
        Mistake.BAD_END.value,
        Mistake.MISSING_KEY.value,  # format
        Mistake.WRONG_TOML_TYPE.value,  # path
        Mistake.NAME_CLASH.value,  # S
        Mistake.MISSING_KEY.value,  # columns
    ]


def test_the_picture(read: Read, tmp_path: Path) -> None:
    (found,) = mistakes(read, STREAM + 'check = ["x > 0"]\nky = ["t"]\n')
    assert found.render() == "\n".join(
        [
            "error[OBM104]: unknown key 'ky'",
            f"  --> {tmp_path}/obda.toml:5:1",
            "   |",
            ' 5 | ky = ["t"]',
            "   | ^^",
            "hint: Did you mean 'key'?",
        ]
    )


@pytest.mark.parametrize(
    ("content", "message", "column"),
    [
        (b"\xef\xbb\xbfa = 1", "a byte order mark", 1),
        (b"a = 1 # \x00", "a NUL character", 9),
        ("a = 'é' # ".encode() + b"\xe9", "not UTF-8", 11),
        ("a = 1".encode("utf-16"), "not UTF-8", 1),
    ],
)
def test_not_utf8_text(tmp_path: Path, content: bytes, message: str, column: int) -> None:
    path = tmp_path / "obda.toml"
    path.write_bytes(content)
    with pytest.raises(SettingError) as caught:
        read_setting(path)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == (Mistake.NOT_UTF8_TEXT.value, message)
    assert found.span is not None
    assert (found.span.line, found.span.column) == (1, column)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.toml", "there is no file"),
        (".", "is a directory"),
        ("a\0b", "cannot read"),
        ("x" * 5000, "file name too long"),
    ],
)
def test_unreadable_files(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_setting(tmp_path / name)
    (found,) = caught.value.diagnostics
    assert found.code == Mistake.UNREADABLE_FILE.value
    assert found.span is None
    assert message in found.message


def test_every_code_is_its_own() -> None:
    assert len({mistake.value for mistake in Mistake}) == len(Mistake.__members__)
