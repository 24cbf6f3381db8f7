# SPDX-License-Identifier: Apache-2.0
"""The revisions of the database schema, one module for each change.

A module is named after its number in the order of the changes and after what
it adds. Released revisions are never changed or removed, because databases of
any earlier revision are upgraded one revision at a time. ``table/schema``
describes the tables after the last one.
"""
