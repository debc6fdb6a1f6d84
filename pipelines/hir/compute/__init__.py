"""How compute operations become linalg.generic on buffers.

Every operation has a file with a function that is registered under the operation's name. Its bodies
are made of scalar emitters, in tables by kind: `floats`, `integers`, `truths`, `reductions`, and
`casts` between element types. Operands are loaded in their stored type, computed with in the
computing type, and rounded once when stored (`elements`). The lowerings of products are in
pipelines/products.
"""
