# SPDX-License-Identifier: Apache-2.0
"""The last lines of CI state which tests failed, and why."""

from tools import test_totals

REPORT = """<testsuites>
<testsuite tests="3" failures="1" errors="1" skipped="0">
<testcase classname="tests.a" name="test_good"/>
<testcase classname="tests.a" name="test_bad[seed 3]">
<failure message="assert ['member a has
 two servers'] == []">trace</failure>
</testcase>
<testcase classname="tests.b" name="test_broken"><error message="no cloud"/>
</testcase></testsuite></testsuites>"""


def test_each_failure_is_named_with_its_message(tmp_path, capsys):
    path = tmp_path / 'report.xml'
    path.write_text(REPORT)
    assert test_totals.main([path]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "failed: tests.a::test_bad[seed 3]: assert ['member a has two "
        "servers'] == []",
        'failed: tests.b::test_broken: no cloud',
        '1 passed, 2 failed, 0 skipped']


def test_a_long_message_is_cut(tmp_path):
    path = tmp_path / 'report.xml'
    path.write_text(
        '<testsuite tests="1" failures="1"><testcase classname="a" name="b">'
        f'<failure message="{"x" * 9999}"/></testcase></testsuite>')
    (name, message), = test_totals.failures(path)
    assert (name, len(message)) == ('a::b', test_totals.LENGTH)


def test_a_missing_report_is_a_failure(tmp_path, capsys):
    assert test_totals.main([tmp_path / 'missing.xml']) == 1
    assert '0 passed, 1 failed' in capsys.readouterr().out
