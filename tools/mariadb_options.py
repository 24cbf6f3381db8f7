# SPDX-License-Identifier: Apache-2.0
"""Options of the MariaDB servers of tests and of clouds for tests."""

NO_WAITS = ('--innodb-flush-method=nosync', '--debug-no-sync')
"""Options of a server that never waits until a file is on the disk. Otherwise
it waits several times for each created table. A killed process loses no data,
because the operating system has it."""
