"""torch modules as functions on tensors.

`import_model` exports a module with torch.export, takes what torch-mlir would get wrong apart
(`decompositions`), lowers it with torch-mlir to linalg on tensors, and undoes what that adds
(`tidying`). It imports torch and torch-mlir's importer, which take seconds: it is imported late.
"""
