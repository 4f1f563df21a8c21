"""Plain-Python versions of the kernels, written for clarity: the fast code must agree with them."""
