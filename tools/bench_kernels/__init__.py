"""The speed of the kernels that hirc makes, beside torch's: built here, run on a GPU machine.

`python -m hirc.tools.bench_kernels build FOLDER` (`__main__`, `build`) writes the programs of all
rows (`catalogue`, `row`), whose texts are in ../bench_kernels_programs (`text`), into libraries. In
that folder `python3 run.py` (`run`) has them checked and timed by a child process (`process`,
`child`, `operations`, `arrays`, `measure`), judges the figures by their bars (`report`) and writes
them as JSON, of which `chart` draws a picture. What runs on the GPU machine needs torch, and of
hirc the loader alone. `build --held-out=N` builds operations that are drawn (`space`), which are
functions in torch (`drawn`, `import_drawn`).
"""
