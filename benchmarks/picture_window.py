"""Pictures as the window paints them: how long a first frame and a step take, and contact sheets.

    python benchmarks/picture_window.py DATA [--sheets FOLDER]

DATA is the folder of published data. Walks through tasks with 60 objects and more are timed with
painting, in CPU time. `--sheets` writes one PNG per theme with a step of every task of
`pictures/roles.json` and of further domains, to be looked at.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from measurement import Row, Setting
from pictures import entries, task_of
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from reference.drawn_tasks import walk

from app.services.theme import Theme
from app.widgets.picture_canvas import PictureCanvas
from app.widgets.scene_painter import scene_image, theme_painter
from engine.pictures.picture import Picture
from engine.pictures.scene import Scene
from engine.task.load import load_task
from engine.task.task import Task

LARGE = ("wl/spanner", "wl/childsnack")
OBJECTS, STATES = 60, 60
FURTHER = (
    "adl/schedule",
    "adl/assembly",
    "adl/trucks",
    "wl/childsnack",
    "wl/spanner",
    "gnn/delivery",
)
WIDTH, HEIGHT, COLUMNS = 620, 430, 4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sheets", type=Path)
    options = parser.parse_args()
    for row in rows(Setting(options.data)):
        print(f"{row.what}: {row.ours:.1f} {row.unit} ({row.remark})")
    if options.sheets is not None:
        write_sheets(options.data, options.sheets)
    return 0


def rows(setting: Setting) -> Iterator[Row]:
    data = setting.published("wl").parent
    application = QApplication.instance() or QApplication([])
    theme = Theme()
    theme.set_mode("light")
    for name in LARGE:
        task = _task(data / name, OBJECTS)
        states, actions = walk(task, STATES)
        canvas = PictureCanvas(theme, "canvas")
        canvas.resize(800, 600)
        canvas.show()
        began = time.process_time()
        picture = Picture(task, [states])
        canvas.show_picture(picture.scene("", states[0], states[1], actions[0]))
        canvas.grab()
        first = time.process_time() - began
        steps = []
        for number in range(1, len(actions)):
            began = time.process_time()
            step = picture.scene("", states[number], states[number + 1], actions[number])
            canvas.show_picture(step)
            canvas.grab()
            steps.append(time.process_time() - began)
        remark = f"{len(picture.roles.facts.objects)} objects, {len(states)} states, {name}"
        yield Row("first picture with painting", first * 1000, "ms", remark=remark)
        yield Row("one step with painting, median", median(steps) * 1000, "ms", remark=remark)
        yield Row("one step with painting, slowest", max(steps) * 1000, "ms", remark=remark)
    application.processEvents()


def _task(folder: Path, objects: int = 0) -> Task:
    """The smallest problem with this many objects."""
    problems = sorted(folder.glob("problems/*.pddl"), key=lambda path: path.stat().st_size)
    tasks = (load_task(folder / "domain.pddl", problem) for problem in problems)
    return next(task for task in tasks if _size(task) >= objects)


def _size(task: Task) -> int:
    return len(task.source.problem.objects) if task.source else 0


def _scenes(data: Path) -> Iterator[tuple[str, Scene]]:
    for entry in entries(data):
        task, states = task_of(entry, data)
        number = len(entry["plan"]) // 2
        action = entry["plan"][number]
        title = f"Before step {number + 1}: ({action})"
        picture = Picture(task, [states])
        yield entry["name"], picture.scene(title, states[number], states[number + 1], action)
    for name in FURTHER:
        task = _task(data / name)
        states, actions = walk(task, 20)
        number = len(actions) // 2
        title = f"Before step {number + 1}: ({actions[number]})"
        picture = Picture(task, [states])
        yield name, picture.scene(title, states[number], states[number + 1], actions[number])


def write_sheets(data: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    scenes = list(_scenes(data))
    lines = -(-len(scenes) // COLUMNS)
    for mode in ("light", "dark"):
        theme = Theme()
        theme.set_mode(mode)
        painter_of = theme_painter(theme)
        sheet = QImage(WIDTH * COLUMNS, (HEIGHT + 22) * lines, QImage.Format.Format_RGB32)
        sheet.fill(theme.color("window"))
        painter = QPainter(sheet)
        painter.setPen(theme.color("text"))
        for number, (name, scene) in enumerate(scenes):
            line, column = divmod(number, COLUMNS)
            x, y = column * WIDTH, line * (HEIGHT + 22)
            image = scene_image(scene, painter_of).scaled(
                WIDTH - 10,
                HEIGHT - 4,
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
            painter.drawText(x + 6, y + 16, name)
            painter.drawImage(x + 5, y + 22, image)
        painter.end()
        sheet.save(str(folder / f"pictures-{mode}.png"))


if __name__ == "__main__":
    sys.exit(main())
