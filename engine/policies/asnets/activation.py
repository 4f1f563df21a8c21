"""The activation function of action schema networks."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.native import network as native


def elu(rows: Tensor, bias: Tensor | None = None) -> Tensor:
    """ELU of the rows, with a bias added to each.

    Without gradients the rows are overwritten, by a kernel: torch makes several passes.
    """
    if torch.is_grad_enabled():
        values = rows if bias is None else rows + bias
        return torch.maximum(values, torch.clamp_max(values, 0.0).exp() - 1.0)
    native.elu(rows, rows.new_zeros(rows.shape[-1]) if bias is None else bias)
    return rows
