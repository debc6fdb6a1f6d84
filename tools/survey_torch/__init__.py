"""Which of torch's operators compile, and whether they are right: torch's own samples of each.

Run as `python -m hirc.tools.survey_torch`. `samples` has the database of operators and what they
are called with, `worker` compiles and compares some of them in a process of its own, `__main__`
starts workers, one after the other, and tells what they found.
"""
