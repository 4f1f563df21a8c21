"""Colors, fonts and icons: one light and one dark set, switched at run time.

Color carries meaning only (see `COLORS`), and never alone. Everything that draws by itself asks
`color` when it draws, or listens to `changed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, QTemporaryDir, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontInfo,
    QGuiApplication,
    QIcon,
    QPainter,
    QPalette,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QLabel, QProxyStyle, QWidget

from app.services.style_sheet import PICTURES, style_sheet
from engine.files import resource
from engine.plain_text import printable

ICONS = resource("icons")
SIZES = (16, 20, 24, 32, 48)


def make_icon(name: str, color: QColor, disabled: QColor, ratios: Sequence[int]) -> QIcon:
    icon = QIcon()
    for mode, tint in ((QIcon.Mode.Normal, color), (QIcon.Mode.Disabled, disabled)):
        renderer = _renderer(name, tint)
        for size in SIZES:
            for ratio in ratios:
                icon.addPixmap(_draw(renderer, size, ratio), mode)
    return icon


def application_icon() -> QIcon:
    icon = QIcon()
    renderer = QSvgRenderer(str(ICONS / "plumbline.svg"))
    for size in (*SIZES, 64, 128, 256):
        icon.addPixmap(_draw(renderer, size, 1))
    return icon


def write_tinted(name: str, color: QColor, path: str) -> None:
    """Write a drawing as a file; without a writable folder the picture is left out."""
    with suppress(OSError):
        Path(path).write_text(_tinted(name, color), encoding="utf-8")


def _tinted(name: str, color: QColor) -> str:
    drawing = (ICONS / f"{name}.svg").read_text(encoding="utf-8")
    return drawing.replace("currentColor", color.name())


def _renderer(name: str, color: QColor) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_tinted(name, color).encode()))


def _draw(renderer: QSvgRenderer, size: int, ratio: int) -> QPixmap:
    pixmap = QPixmap(size * ratio, size * ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, size * ratio, size * ratio))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


STYLE = "Fusion"


class PlainTextStyle(QProxyStyle):
    """Sees every widget once, before it is first shown, and what labels, buttons and menus draw.

    Tooltips are labels, too.
    """

    def __init__(self) -> None:
        super().__init__(STYLE)

    def polish(self, item: QWidget | QApplication | QPalette) -> None:  # type: ignore[override]
        super().polish(item)
        if isinstance(item, QLabel) and item.textFormat() == Qt.TextFormat.AutoText:
            item.setTextFormat(Qt.TextFormat.PlainText)

    def drawItemText(self, *words: object) -> None:  # noqa: N802  Qt's name
        fit = [printable(word) if isinstance(word, str) else word for word in words]
        super().drawItemText(*fit)  # type: ignore[arg-type]


COLORS: dict[str, tuple[str, str]] = {
    "window": ("#F5F6F8", "#14171C"),
    "surface": ("#FFFFFF", "#1B1F26"),
    "raised": ("#FFFFFF", "#232933"),
    "hover": ("#E9EDF2", "#2A313C"),
    "text": ("#1B1F24", "#E6E9EE"),
    "muted": ("#57606A", "#9AA4B2"),
    "disabled": ("#8C959F", "#6B7480"),
    "border": ("#D8DEE4", "#2D343F"),
    "scroll": ("#C4CCD4", "#3D4653"),
    "grid": ("#EAEEF2", "#262D37"),
    "accent": ("#2E6CD9", "#6FA1FF"),
    "on_accent": ("#FFFFFF", "#10141A"),
    "selection": ("#DCE8FB", "#29405F"),
    "policy": ("#B15800", "#F0A35E"),
    "better": ("#1A7F4B", "#57C785"),
    "bad": ("#C62F2B", "#FF8A80"),
    "bad_surface": ("#FDECEA", "#3A2022"),
    "warning_surface": ("#FFF6DD", "#332B17"),
    "info_surface": ("#E8F0FD", "#1E2A3D"),
    "proven": ("#1A7F4B", "#57C785"),
    "not_refuted": ("#57606A", "#9AA4B2"),
    "undecided": ("#9A6700", "#E3B341"),
}
"""Light and dark theme; the contrast on window and surfaces is at least 4.5:1."""

MODES = ("system", "light", "dark")
POINT_SIZE = 10
POINT_SIZES = range(7, 21)


class HasIcon(Protocol):
    """An action or a button."""

    def setIcon(self, icon: QIcon, /) -> None: ...  # noqa: N802  Qt's name


class Theme(QObject):
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.mode = "system"
        self.point_size = POINT_SIZE
        self.name = self._resolved()
        self._icons: dict[tuple[str, str, str, int], QIcon] = {}
        self._pictures = QTemporaryDir()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_changed)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenAdded.connect(self._on_screen_added)

    @property
    def is_dark(self) -> bool:
        return self.name == "dark"

    def color(self, token: str) -> QColor:
        return QColor(COLORS[token][self.is_dark])

    def icon(self, name: str, token: str = "text") -> QIcon:
        """Return our drawing in the color of a token, gray while disabled."""
        ratios = _ratios()
        key = (name, token, self.name, len(ratios))
        if key not in self._icons:
            self._icons[key] = make_icon(name, self.color(token), self.color("disabled"), ratios)
        return self._icons[key]

    def keep_icon(self, owner: QObject, name: str, token: str = "text") -> None:
        """Give an action or a button its icon, now and after every change of theme."""
        binding = _IconBinding(owner, self, name, token)
        binding.show_icon()
        self.changed.connect(binding.show_icon)

    @property
    def ui_font(self) -> QFont:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        font.setPointSize(self.point_size)
        return font

    @property
    def mono_font(self) -> QFont:
        """The font for ground actions, facts and PDDL."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        if not QFontInfo(font).fixedPitch():
            font = QFont("monospace")
            font.setStyleHint(QFont.StyleHint.Monospace)
        font.setPointSize(self.point_size)
        return font

    def set_mode(self, mode: str) -> None:
        assert mode in MODES, mode
        self.mode = mode
        self.apply()

    def set_point_size(self, points: int) -> None:
        self.point_size = min(max(points, POINT_SIZES[0]), POINT_SIZES[-1])
        self.apply()

    def apply(self) -> None:
        """Apply the theme to the whole application."""
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self.name = self._resolved()
        if application.styleSheet():
            application.setStyleSheet("")  # replacing one directly takes five times as long
        else:
            application.setStyle(PlainTextStyle())
        application.setPalette(self.palette())
        application.setFont(self.ui_font)
        application.setStyleSheet(style_sheet(self.color, self._picture_files(), self.point_size))
        self.changed.emit()

    def palette(self) -> QPalette:
        role = QPalette.ColorRole
        colors = {
            role.Window: "window",
            role.WindowText: "text",
            role.Base: "surface",
            role.AlternateBase: "window",
            role.Text: "text",
            role.PlaceholderText: "muted",
            role.Button: "raised",
            role.ButtonText: "text",
            role.BrightText: "bad",
            role.ToolTipBase: "raised",
            role.ToolTipText: "text",
            role.Highlight: "selection",
            role.HighlightedText: "text",
            role.Accent: "accent",
            role.Link: "accent",
            role.LinkVisited: "accent",
            role.Light: "raised",
            role.Midlight: "grid",
            role.Mid: "border",
            role.Dark: "border",
            role.Shadow: "border",
        }
        palette = QPalette()
        for each, token in colors.items():
            palette.setColor(each, self.color(token))
        for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
            palette.setColor(QPalette.ColorGroup.Disabled, each, self.color("disabled"))
        return palette

    def _picture_files(self) -> dict[str, str]:
        """Style sheets know pictures only as files."""
        files = {}
        for key, (name, token) in PICTURES.items():
            files[key] = self._pictures.filePath(f"{name}-{token}-{self.name}.svg")
            write_tinted(name, self.color(token), files[key])
        return files

    def _resolved(self) -> str:
        if self.mode != "system":
            return self.mode
        return "dark" if system_is_dark() else "light"

    @Slot()
    def _on_screen_added(self) -> None:
        self.changed.emit()  # its pixels may be smaller

    @Slot()
    def _on_system_changed(self) -> None:
        if self.mode == "system" and self._resolved() != self.name:
            self.apply()


def _ratios() -> tuple[int, ...]:
    """Drawings with twice as many pixels take four times as long, and few screens show them."""
    fine = any(screen.devicePixelRatio() > 1 for screen in QGuiApplication.screens())
    return (1, 2) if fine else (1,)


def system_is_dark() -> bool:
    """Return False without a desktop, which then has no color scheme."""
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


class _IconBinding(QObject):
    """Dies with its owner, and the connection with it."""

    def __init__(self, owner: QObject, theme: Theme, name: str, token: str) -> None:
        super().__init__(owner)
        self._theme, self._name, self._token = theme, name, token

    @Slot()
    def show_icon(self) -> None:
        owner: HasIcon = self.parent()  # type: ignore[assignment]  # actions and buttons have it
        owner.setIcon(self._theme.icon(self._name, self._token))
