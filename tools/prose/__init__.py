# SPDX-License-Identifier: Apache-2.0
"""The prose linter: proselint with the rules of ``rules.toml``.

A rule has a ``name``, a ``message`` and a ``pattern``, and two sentences:
``bad`` breaks precisely this rule, and ``good`` says the same in plain
English. A pattern is a regular expression without regard to case, in which a
space matches any white space and ``<end>`` the end of a clause. A rule with
``names = true`` checks names instead of text: the paths of modules, and the
names that modules define, as ``path:line: name``, with hyphens between words.
"""
