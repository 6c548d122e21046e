"""The one renderer: every format, for commands with tables and for commands with sentences."""

import csv
import io
import json

import pytest
import typer
from typer.testing import CliRunner

from jaywalk.cli import output, table_formats
from jaywalk.cli.main import app
from jaywalk.core.errors import PrerequisiteError, UsageError

OTHER_FORMATS = {"jaywalk export", "jaywalk predict"}  # whose --format is that of files


def leaves(command, name="jaywalk"):
    command = getattr(command, "loaded", command)
    below = getattr(command, "commands", {})
    if not below:
        yield name, command
    for child, one in below.items():
        yield from leaves(one, f"{name} {child}")


def list_towns(*words):
    ended = CliRunner().invoke(app, ["list", "towns", *words])
    assert ended.exit_code == 0
    return ended.stdout


def test_every_command_with_json_has_the_format_option():
    seen = 0
    for name, command in leaves(typer.main.get_command(app)):
        options = {option for one in command.params for option in one.opts}
        if "--json" not in options:
            continue
        seen += 1
        assert "--format" in options
        if "--print-format" in options:
            assert any(name.startswith(other) for other in OTHER_FORMATS)
    assert seen > 60


def test_out_is_spelled_the_same_everywhere():
    for name, command in leaves(typer.main.get_command(app)):
        for one in command.params:
            if {"--out", "--output", "-o"} & set(one.opts):
                assert {"--out", "-o"} <= set(one.opts), name


def test_json_is_short_for_its_format():
    assert list_towns("--json") == list_towns("--format", "json")


def test_csv_has_a_heading_and_the_same_values_as_json():
    rows = list(csv.DictReader(io.StringIO(list_towns("--format", "csv"))))
    expected = json.loads(list_towns("--json"))
    assert rows == [{key: str(value) for key, value in row.items()} for row in expected]


def test_tsv_has_a_heading_where_plain_lines_have_none():
    plain, tsv = list_towns().splitlines(), list_towns("--format", "tsv").splitlines()
    assert tsv[1:] == plain
    assert tsv[0].split("\t")[:2] == ["name", "road_km"]


def test_latex_is_a_tabular_with_escaped_names():
    lines = list_towns("--format", "latex").splitlines()
    assert lines[1] == r"\begin{tabular}{lrrrrr}"
    assert lines[3].startswith(r"name & road\_km & spawn\_points")
    assert lines[-1] == r"\end{tabular}"


def test_markdown_is_a_table_with_escaped_names():
    lines = list_towns("--format", "md").splitlines()
    assert lines[0].startswith(r"| name | road\_km | spawn\_points |")
    assert lines[1] == "| --- | --- | --- | --- | --- | --- |"
    plain = list_towns().splitlines()
    assert lines[2:] == ["| " + line.replace("\t", " | ") + " |" for line in plain]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("a|b", r"a\|b"), ("[0.1, 0.2]", "[0.1, 0.2]"), ("[x](y)", r"[x]\(y)"), ("<b>", r"\<b>")],
)
def test_markdown_cells_hold_no_markup(cell, expected):
    assert table_formats._markdown_cell(cell) == expected


def test_a_table_in_a_pipe_is_not_folded():
    lines = list_towns("--format", "table").splitlines()
    assert [line.split()[0] for line in lines] == ["name", "Harbour", "Orchard", "Ridge"]


def test_commands_with_sentences_print_the_rows_of_their_json():
    ended = CliRunner().invoke(app, ["doctor", "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(ended.stdout)))
    assert list(rows[0]) == ["check", "state", "detail", "fix"]
    assert rows[0]["check"] == "python"


def test_a_format_ends_with_its_command():
    assert "\\begin" in list_towns("--format", "latex")
    assert list_towns() == list_towns()
    assert list_towns().startswith("Harbour\t")


@pytest.mark.parametrize(
    ("value", "columns", "rows"),
    [
        ([{"a": 1}, {"a": 2, "b": True}], ["a", "b"], [["1", ""], ["2", "yes"]]),
        ({"n": 1, "rows": [{"a": [1]}]}, ["a"], [["[1]"]]),
        ({"file": "x", "set": {"k": 1}}, ["key", "value"], [["file", "x"], ["set", '{"k": 1}']]),
        (["x", "y"], ["value"], [["x"], ["y"]]),
    ],
)
def test_rows_of_json_values(value, columns, rows):
    assert output._rows_of(value) == (columns, rows)


def answer(*rows, **more):
    value = {"rows": [{"name": row} for row in rows]}
    table = output.Table(["Name"], [[row] for row in rows], "names")
    return output.Result(value, [table, output.Note("a note"), "one remark"], **more)


def invoke(result, *words):
    holder = typer.Typer()

    @holder.command()
    def _() -> output.Result:
        return result

    command = typer.main.get_command(holder)
    output.add_output_options(command)
    return command.main([*words], standalone_mode=False)  # its exit code


def test_returned_results_are_printed_in_every_format(capsys):
    result = answer("a", "b", next_command="jaywalk list")
    for words in (["--json"], ["--format", "json"]):
        invoke(result, *words)
        assert json.loads(capsys.readouterr().out) == result.value
    invoke(result)
    shown = capsys.readouterr()
    assert shown == ("Name\na\nb\none remark\nnext: jaywalk list\n", "jaywalk: a note\n")
    invoke(result, "--format", "csv")
    shown = capsys.readouterr()
    assert shown == ("Name\na\nb\n", "jaywalk: a note\none remark\nnext: jaywalk list\n")


def test_one_table_of_a_result(capsys):
    invoke(answer("a", table="names", next_command="jaywalk list"), "--format", "md")
    assert capsys.readouterr() == ("| Name |\n| --- |\n| a |\n", "jaywalk: a note\n")
    with pytest.raises(UsageError, match="--table is 'other', expected one of: names"):
        invoke(answer("a", table="other"))


def test_rows_of_a_table_in_the_order_asked_for(capsys):
    invoke(answer("a", "b", "c", metrics="c, a"), "--format", "csv")
    assert capsys.readouterr().out == "Name\nc\na\n"
    with pytest.raises(UsageError, match=r"--metrics names 'd', .* Known: a, b"):
        invoke(answer("a", "b", metrics="a,d"))


def test_csv_and_tsv_have_a_column_for_each_value(capsys):
    interval = output.with_interval(-50.0, [-100.0, 56.256], "%")
    rows = [
        ["a", interval, "[1.0, -]", output.count_of(3, 4)],
        ["b", "2.5 [-1.0, 3.0]", "(no interval)", "-"],
    ]
    columns = ["name", "DS [95 %]", "95 % interval", "success"]
    one = output.Table(columns, rows, "first")
    invoke(output.Result({}, [one]), "--format", "csv")
    assert capsys.readouterr().out.splitlines() == [
        "name,DS,DS low,DS high,95 % interval low,95 % interval high,success,n",
        "a,-50.0,-100.0,56.256,1.0,,3,4",
        "b,2.5,-1.0,3.0,,,,",
    ]
    two = output.Table(["name", "hits"], [["c", output.number(1 / 3)]], "second")
    invoke(output.Result({}, [output.Table(columns[:2], [row[:2] for row in rows], "first"), two]),
           "--format", "tsv")  # fmt: skip
    assert capsys.readouterr().out.splitlines() == [
        "table\tname\tDS\tlow\thigh\thits",
        "first\ta\t-50.0\t-100.0\t56.256\t",
        "first\tb\t2.5\t-1.0\t3.0\t",
        f"second\tc\t\t\t\t{1 / 3}",
    ]
    invoke(output.Result({}, [one]))  # people who pipe see the intervals
    assert "-50.0% [-100.0, 56.3]" in capsys.readouterr().out


@pytest.mark.parametrize("words", [(), ("--json",), ("--format", "md")])
def test_a_result_sets_the_exit_code(words):
    assert invoke(answer("a", exit_code=4), *words) == 4


def test_latex_columns_of_numbers_end_flush(capsys):
    rows = [["a_b", "-1.50", "[-2.0, 1.0]"], ["c", "12", ""]]
    invoke(output.Result({}, [output.Table(["x", "n", "95 %"], rows, "main")]), "--format", "latex")
    assert capsys.readouterr().out.splitlines() == [
        r"% \usepackage{booktabs}; main",
        r"\begin{tabular}{lrl}",
        r"\toprule",
        r"x & n & 95 \% \\",
        r"\midrule",
        r"a\_b & $-$1.50 & [$-$2.0, 1.0] \\",
        r"c & 12 &  \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_outputs_are_checked_before_the_work(tmp_path):
    (tmp_path / "file").touch()
    output.check_writable(tmp_path / "new" / "deeper" / "x.html", "--out")
    output.check_writable(tmp_path, "--out")
    with pytest.raises(PrerequisiteError, match=r"'file' is a file\. Give --png"):
        output.check_writable(tmp_path / "file" / "x.png", "--png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_every_command_checks_its_outputs(tmp_path):
    (tmp_path / "file").touch()
    for words in (
        ["score", "nowhere"],  # no output: its own error
        ["scenario", "show", "nowhere.toml", "-o", str(tmp_path / "file/x.png")],
        ["town", "show", "Nowhere", "--png", str(tmp_path / "file/x.png")],
        ["pairs", "assets", "-o", str(tmp_path / "file/x.png")],
    ):
        ended = CliRunner().invoke(app, words)
        assert ("Cannot write" in str(ended.exception)) == (words[0] != "score"), words
