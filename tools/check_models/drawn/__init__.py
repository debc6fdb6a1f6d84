"""Problems drawn from distributions, as files in KernelBench's convention: a held-out sample.

`write` (`writing`) draws single operators (`operators`), chains that begin with a product or a
convolution (`chains`, of `links`), and networks (`image_networks` and `sequence_networks`, of the
modules in `convolutional`, `image_to_image` and `sequences`). Each size and choice is drawn where
it is used (`draw`); how much work is asked for is estimated in `work`. A compiler is judged by what
it does with these: nothing in it is to be fitted to a seed.
"""
