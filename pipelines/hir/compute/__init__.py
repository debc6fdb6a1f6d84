"""How compute operations become linalg.generic on buffers.

The functions that do so are registered under the operations' names: `set`, `reduce`, and `kinds`
for the elementwise ones. Their bodies are made of scalar emitters, in tables by kind: `floats`,
`integers`, `reductions`, and `casts` between element types. Operands are loaded in their stored
type, computed with in the computing type, and rounded once when stored (`elements`). The lowerings
of products are in pipelines/products.
"""
