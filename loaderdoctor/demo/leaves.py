"""Tell four leaf diseases apart, from photographs that lie on disk as JPEG files."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageEnhance, ImageOps
from torch import nn
from torch.utils.data import DataLoader, Dataset

DISEASES = ("healthy", "rust", "mildew", "blight")
SPOT_COLOURS = {"healthy": (60, 140, 50), "rust": (190, 90, 30), "mildew": (225, 225, 215), "blight": (60, 40, 25)}
PHOTOS = 256
PHOTO_SIZE = (640, 480)
CROP_PIXELS = 96
EPOCHS = 7


def take_photo(disease: str, rng: random.Random) -> Image.Image:
    """Draws one leaf on soil, with the spots of its disease."""
    width, height = PHOTO_SIZE
    soil = np.random.default_rng(rng.getrandbits(32)).integers(70, 130, (height // 4, width // 4, 3), dtype=np.uint8)
    photo = Image.fromarray(soil).resize(PHOTO_SIZE)
    draw = ImageDraw.Draw(photo)
    draw.ellipse((60, 50, width - 60, height - 50), fill=(60, rng.randint(120, 170), 50))
    draw.line((60, height // 2, width - 60, height // 2), fill=(40, 90, 35), width=6)
    for _ in range(40):
        x, y, radius = rng.randint(140, width - 140), rng.randint(110, height - 110), rng.randint(6, 22)
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=SPOT_COLOURS[disease])
    return photo


def take_photos(folder: Path) -> None:
    """Fills the folder with one JPEG a leaf; the disease is the first part of the file's name."""
    rng = random.Random(1)
    for index in range(PHOTOS):
        disease = DISEASES[index % len(DISEASES)]
        take_photo(disease, rng).save(folder / f"{disease}-{index:04d}.jpg", quality=90)


class Leaves(Dataset):
    """Every photograph of a folder: decoded, turned, cropped, mirrored and recoloured each time it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*.jpg"))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        path = self.paths[index]
        with Image.open(path) as file:
            photo = file.convert("RGB")
        photo = photo.rotate(random.uniform(-15, 15), resample=Image.Resampling.BILINEAR)
        side = random.randint(240, 400)
        left, top = random.randint(0, photo.width - side), random.randint(0, photo.height - side)
        photo = photo.resize((CROP_PIXELS, CROP_PIXELS), box=(left, top, left + side, top + side))
        if random.random() < 0.5:
            photo = ImageOps.mirror(photo)
        photo = ImageEnhance.Color(photo).enhance(random.uniform(0.8, 1.2))
        pixels = np.asarray(photo, dtype=np.float32).transpose(2, 0, 1) / 255
        return torch.from_numpy((pixels - 0.4) / 0.2), DISEASES.index(path.stem.split("-")[0])


def build_model() -> nn.Module:
    """A small convolutional network."""
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, stride=2),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 128, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, len(DISEASES)),
    )


def train(folder: Path) -> None:
    """Trains on the photographs of the folder and says how well it goes."""
    loader = DataLoader(Leaves(folder), batch_size=16, shuffle=True)
    model = build_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(EPOCHS):
        right = 0
        for photos, diseases in loader:
            guess = model(photos)
            loss = nn.functional.cross_entropy(guess, diseases)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += int((guess.argmax(1) == diseases).sum())
        print(f"epoch {epoch + 1}: {right} of {PHOTOS} right", flush=True)


def main() -> None:
    """Takes the photographs, then trains on them."""
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)  # the other cores are for loading
    torch.set_flush_denormal(True)  # a model that is nearly always right has tiny gradients, slow on a CPU as they are
    with tempfile.TemporaryDirectory() as folder:
        take_photos(Path(folder))
        train(Path(folder))


if __name__ == "__main__":
    main()
