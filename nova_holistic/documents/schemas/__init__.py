# SPDX-License-Identifier: Apache-2.0
"""JSON schemas (draft 2020-12) of the documents, one module a document.

``description`` completes the sentence "must be …" where a keyword alone
would make a poor message. Keywords stand in the order in which their
errors are best told: unknown keys come before missing ones. None of them has
a ``$schema``: by that jsonschema would change, below a ``$ref``, to its own
validator, which takes 1.0 for an integer.
"""
