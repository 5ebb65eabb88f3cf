"""The README's picture: the demo's error against ε for the median, on white."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import matplotlib.image as image
import numpy as np

from sordino.demo.plots import figures

TARGET = Path(__file__).parents[1] / "docs" / "img" / "demo.png"


def main() -> None:
    picture = figures(1.0)[0]
    pixels = image.imread(io.BytesIO(base64.b64decode(picture.light.split(",", 1)[1])))
    opacity = pixels[..., 3:]
    image.imsave(TARGET, np.clip(pixels[..., :3] * opacity + (1 - opacity), 0, 1))
    print(f"   {picture.title}: docs/img/{TARGET.name}")


if __name__ == "__main__":
    main()
