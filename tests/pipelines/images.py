"""Image classification on JPEG files with transforms of its own, all in the main process."""

import random
import tempfile
from pathlib import Path

import numpy as np
import stopwatch
import torch
from PIL import Image, ImageOps
from torch import nn
from torch.utils.data import DataLoader, Dataset

PHOTOS, EPOCHS, CLASSES = 96, 5, 3


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class RandomRotation:
    def __init__(self, degrees):
        self.degrees = degrees

    def __call__(self, image):
        angle = random.uniform(-self.degrees, self.degrees)
        return image.rotate(angle, resample=Image.Resampling.BICUBIC)


class RandomResizedCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, image):
        side = random.randint(160, 240)
        left, top = random.randint(0, image.width - side), random.randint(0, image.height - side)
        return image.resize((self.size, self.size), box=(left, top, left + side, top + side))


class RandomHorizontalFlip:
    def __call__(self, image):
        return ImageOps.mirror(image) if random.random() < 0.5 else image


class ToTensor:
    def __call__(self, image):
        return torch.from_numpy(np.asarray(image, dtype=np.float32).transpose(2, 0, 1) / 255)


class ImageFolder(Dataset):
    def __init__(self, root, transform):
        self.paths = sorted(Path(root).glob("*.jpg"))
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        with Image.open(path) as image:
            return self.transform(image.convert("RGB")), int(path.name[0])


def save_photos(root):
    rng = np.random.default_rng(0)
    for index in range(PHOTOS):
        pixels = rng.integers(0, 120, (60, 80, 3), dtype=np.uint8)
        pixels[20:40, 30:50, index % CLASSES] += 120
        Image.fromarray(pixels).resize((320, 240)).save(Path(root) / f"{index % CLASSES}-{index:03d}.jpg")


def main():
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    transform = Compose([RandomRotation(10), RandomResizedCrop(64), RandomHorizontalFlip(), ToTensor()])
    model = nn.Sequential(
        nn.Conv2d(3, 48, 5, stride=2),
        nn.ReLU(),
        nn.Conv2d(48, 96, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(96, CLASSES),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with tempfile.TemporaryDirectory() as root:
        save_photos(root)
        loader = DataLoader(ImageFolder(root, transform), batch_size=8, shuffle=True)
        for epoch in range(EPOCHS):
            total = 0.0
            stopwatch.loop()
            for images, labels in loader:
                stopwatch.got()
                loss = nn.functional.cross_entropy(model(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
                stopwatch.done()
            print(f"epoch {epoch}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
