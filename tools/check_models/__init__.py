"""Whole networks, compiled and compared with torch: built here, run here or on a GPU machine.

`python -m hirc.tools.check_models build FOLDER` (`__main__`, `build`, and for each network a
process of `import_network`) makes libraries of the networks of `catalogue`, which are in
`networks`, or of model files. In that folder `python3 run.py` (`run`, and for each network a
process of `compare`) computes with them and with torch, and says how they differ. What runs there
needs torch, and of hirc the loader alone.
"""
