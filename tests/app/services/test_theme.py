"""Two themes: enough contrast, switched at run time, icons in their colors."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.services.theme import COLORS, ICONS, Theme, application_icon

TEXTS = ("text", "muted", "accent", "policy", "better", "bad", "proven", "not_refuted", "undecided")
GROUNDS = ("window", "surface", "raised")
PAIRS = [
    *((text, ground) for text in TEXTS for ground in GROUNDS),
    ("on_accent", "accent"),
    ("bad", "bad_surface"),
    *(("text", ground) for ground in ("selection", "hover", "bad_surface")),
    *(("text", ground) for ground in ("warning_surface", "info_surface")),
]


def luminance(color: QColor) -> float:
    """As the Web Content Accessibility Guidelines define it."""
    parts = [color.redF(), color.greenF(), color.blueF()]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: QColor, other: QColor) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_texts_can_be_read(theme: Theme, mode: str) -> None:
    theme.set_mode(mode)
    weak = {
        pair: round(contrast(*map(theme.color, pair)), 2)
        for pair in PAIRS
        if contrast(*map(theme.color, pair)) < 4.5
    }
    assert not weak


def test_every_token_has_both_colors() -> None:
    for light, dark in COLORS.values():
        assert QColor(light).isValid()
        assert QColor(dark).isValid()


def test_the_theme_changes_what_is_shown(theme: Theme, qapp: QApplication, qtbot: QtBot) -> None:
    button = QPushButton("Run")
    qtbot.addWidget(button)
    button.show()
    grounds = {}
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        assert theme.name == mode
        assert qapp.palette().window().color() == theme.color("window")
        grounds[mode] = button.grab().toImage().pixelColor(button.rect().center() / 2)
    assert grounds["light"].lightness() > 200
    assert grounds["dark"].lightness() < 80


def test_without_a_desktop_the_system_theme_is_light(theme: Theme) -> None:
    theme.set_mode("system")
    assert theme.name == "light"


def test_the_system_theme_follows_the_system(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no desktop here, so what it would say is made up."""
    changed = QGuiApplication.styleHints().colorSchemeChanged
    theme.set_mode("system")
    monkeypatch.setattr("app.services.theme.system_is_dark", lambda: True)
    changed.emit(Qt.ColorScheme.Dark)
    assert theme.name == "dark"
    theme.set_mode("light")
    changed.emit(Qt.ColorScheme.Dark)
    assert theme.name == "light"


def test_the_size_of_texts_has_limits(theme: Theme, qapp: QApplication) -> None:
    theme.set_point_size(12)
    assert qapp.font().pointSize() == 12
    assert theme.mono_font.pointSize() == 12
    theme.set_point_size(1000)
    assert theme.point_size == 20
    theme.set_point_size(-5)
    assert theme.point_size == 7


@pytest.mark.parametrize("name", sorted(path.stem for path in ICONS.glob("*.svg")))
def test_every_icon_is_drawn_in_its_color(theme: Theme, name: str) -> None:
    if name == "plumbline":
        assert not application_icon().isNull()
        return
    assert "currentColor" in (ICONS / f"{name}.svg").read_text()
    for mode, token in ((QIcon.Mode.Normal, "bad"), (QIcon.Mode.Disabled, "disabled")):
        image = theme.icon(name, "bad").pixmap(QSize(24, 24), 2.0, mode).toImage()
        assert image.width() == 48
        drawn = {
            image.pixelColor(x, y).name()
            for x in range(48)
            for y in range(48)
            if image.pixelColor(x, y).alpha() == 255
        }
        assert theme.color(token).name() in drawn


def test_kept_icons_follow_the_theme(theme: Theme, qtbot: QtBot) -> None:
    button = QPushButton()
    qtbot.addWidget(button)
    theme.keep_icon(button, "stop")

    def colors() -> set[str]:
        image = button.icon().pixmap(24, 24).toImage()
        points = [(x, y) for x in range(image.width()) for y in range(image.height())]
        colors = [image.pixelColor(x, y) for x, y in points]
        return {color.name() for color in colors if color.alpha() > 200}

    light = colors()
    assert theme.color("text").name() in light
    theme.set_mode("dark")
    assert colors() != light
