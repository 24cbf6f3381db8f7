# SPDX-License-Identifier: Apache-2.0
"""JSON schemas (draft 2020-12) of the documents, one module a document.

``description`` completes the sentence "must be …" if a keyword alone would
make a poor message. The order of keywords is the order in which their errors
are reported: unknown keys come before missing ones. None of the schemas has a
``$schema``: with it, jsonschema would change, below a ``$ref``, to its own
validator, which accepts 1.0 as an integer.
"""
