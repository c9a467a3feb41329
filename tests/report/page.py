"""Reading a page back as a browser would, to say what is wrong with it."""

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}
ADDRESSES = {"src", "href", "xlink:href", "action", "data", "poster", "srcset", "formaction"}


class Page(HTMLParser):
    """The text, the tags and the faults of a page."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.tags, self.addresses, self.ids = [], [], [], [], []
        self.pieces, self.styles, self.handlers = [], [], []
        self.feed(html)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name in ADDRESSES:
                self.addresses.append(value or "")
            if name == "id":
                self.ids.append(value)
            if name == "style":
                self.styles.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)
            if name in ("aria-label", "content"):
                self.pieces.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:] or 'nothing'}")
        else:
            self.open.pop()

    def handle_data(self, data):
        (self.styles if self.open[-1:] == ["style"] else self.pieces).append(data)

    @property
    def text(self):
        """All that a reader or a screen reader is told, on one line."""
        return " ".join(" ".join(self.pieces).split())
