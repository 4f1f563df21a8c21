"""The screens, one module or small package each."""
