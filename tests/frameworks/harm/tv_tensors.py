"""torchvision's tensors keep their type in what tables built at import know as `torch.Tensor.to`."""

import torch
from torch.utils.data import DataLoader, TensorDataset
from torchvision import tv_tensors

boxes = tv_tensors.BoundingBoxes(torch.tensor([[0.0, 0, 5, 5]]), format="XYXY", canvas_size=(10, 10))
print(type(boxes.to(torch.float64)).__name__)
for _ in DataLoader(TensorDataset(torch.zeros(64, 7)), batch_size=8):
    print(type(boxes.to(torch.float64)).__name__, type(boxes.clone()).__name__, type(boxes.cpu()).__name__)
