"""A real browser on the page of a stack, for the scripts in this folder.

A script is run by a Swift test with one argument: the path of a file that signs the browser in. `step` asks the test to
do something to the stack, such as to kill a process, and returns the test's answer.
"""

import contextlib
import json
import os
import sys
from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

# A test waits for a message or a state of the page, never for time. This is the time after which it fails.
DEADLINE = 45_000
# The folder for the screenshots of the main states. Empty if nobody will look at them.
SCREENSHOTS = os.environ.get("SEGUE_SCREENSHOTS", "")

# A link to a URL that the browser has not let the page open.
OFFER = "segue-notes a[target=_blank]"

expect.set_options(timeout=DEADLINE)


def step(text: str) -> str:
    """Asks the Swift test to carry out a step, and waits for its answer."""
    print(f"? {text}", flush=True)
    return sys.stdin.readline().strip()


def messages(mark: str, types: str) -> list[dict]:
    """The messages that were recorded after a mark, which `step("end")` returns. `types` are beginnings of types."""
    return json.loads(step(f"messages {mark} {types}"))


class Trouble:
    """The errors that the browser has reported. A script that expects some of them takes them out."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def watch(self, page: Page) -> None:
        page.on("console", lambda message: self._console(message))
        page.on("pageerror", lambda error: self.lines.append(f"exception: {error}"))
        page.on("requestfailed", lambda request: self._failed(request))
        page.on("response", lambda answer: self._answer(answer))

    def _console(self, message) -> None:
        if message.type in ("error", "warning"):
            self.lines.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _failed(self, request) -> None:
        # A page that is closed or reloaded ends its requests.
        if request.failure != "net::ERR_ABORTED":
            self.lines.append(f"request: {request.method} {request.url}: {request.failure}")

    def _answer(self, answer) -> None:
        if answer.status >= 400:
            self.lines.append(f"answer: {answer.status} {answer.request.method} {answer.url}")

    def forgive(self) -> None:
        """Forgets the errors so far, which the script has caused on purpose."""
        self.lines.clear()

    def check(self) -> None:
        assert not self.lines, "the browser reported errors:\n" + "\n".join(self.lines)


@contextlib.contextmanager
def browser():
    """A Chromium with popup blocking, which Playwright switches off by default."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"],
            ignore_default_args=["--disable-popup-blocking"])
        try:
            yield chromium
        finally:
            chromium.close()


def context(chromium: Browser, **options) -> BrowserContext:
    options.setdefault("viewport", {"width": 1600, "height": 1000})
    made = chromium.new_context(**options)
    made.set_default_timeout(DEADLINE)
    return made


def sign_in(browser_context: BrowserContext, trouble: Trouble | None = None, session: str = "") -> Page:
    """Opens the file that `segue open`, or `segue open --session`, writes, and waits for the page."""
    page = browser_context.new_page()
    if trouble:
        trouble.watch(page)
    link = sys.argv[1] if not hasattr(sign_in, "used") else step(f"link {session}".strip())
    sign_in.used = True
    page.goto(f"file://{link}")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    return page


@contextlib.contextmanager
def open_page(before: str = "", **options):
    """The page in a new browser. When the block ends, the browser must not have reported an error.

    `before` is JavaScript that runs before the scripts of each page.
    """
    trouble = Trouble()
    with browser() as chromium:
        made = context(chromium, **options)
        if before:
            made.add_init_script(before)
        page = sign_in(made, trouble)
        page.trouble = trouble
        try:
            yield page
        except BaseException:
            print("\n".join(trouble.lines))
            with contextlib.suppress(Exception):
                print(page.locator("body").aria_snapshot())
            raise
        trouble.check()


def device(page: Page, platform: str):
    """The device of a platform."""
    return page.get_by_role("region", name=platform, exact=False).first


def open_tab(page: Page, press: Callable[[], None]) -> Page:
    """Does what opens a URL of the app, such as a press of a button, and returns the tab.

    The browser lets the page open a tab for five seconds after the press. If the app answers later than that, the
    device offers a link. This presses it, as a person would.
    """
    # The page notes each request to open a URL before it tries to open a tab.
    requests = "(JSON.parse(sessionStorage.getItem('segue.opened')) ?? []).at(-1)"
    last = json.dumps(page.evaluate(requests))
    with page.context.expect_page() as opened:
        press()
        wait_unseen(page, f"({requests} ?? null) !== {last}")
        if look_unseen(page, f"document.querySelector('{OFFER}') !== null"):
            assert not look_unseen(page, "navigator.userActivation.isActive"), "the page has opened no tab"
            page.locator(OFFER).click()
    return opened.value


def log_in(page: Page, press: Callable[[], None] | None = None) -> None:
    """Connects Spotify on the phone, and waits until both devices show the playlists."""
    consent = open_tab(page, press or device(page, "Device ios").get_by_role("button", name="Connect Spotify").click)
    consent.get_by_role("button", name="Agree").click()
    for platform in ("ios", "mac"):
        expect(device(page, f"Device {platform}").get_by_role("button", name="Deep Focus")).to_be_visible()
    consent.close()


@contextlib.contextmanager
def drag(page: Page, element, start: tuple[float, float]):
    """Presses the mouse on an element, and releases it at the end of the block. `move` moves it slowly to a distance.

    A coordinate of `start` below 1 is a part of the width or of the height; any other one is in pixels.
    """
    # While the element is animated, the mouse would miss it.
    element.element_handle().wait_for_element_state("stable")
    box = element.bounding_box()
    x = box["x"] + (start[0] * box["width"] if start[0] < 1 else start[0])
    y = box["y"] + (start[1] * box["height"] if start[1] < 1 else start[1])
    page.mouse.move(x, y)
    page.mouse.down()
    yield lambda across, down: page.mouse.move(x + across, y + down, steps=20)
    page.mouse.up()


def look_unseen(page: Page, expression: str):
    """The value of an expression in JavaScript, or of its promise. To Chromium this is not an action of a person.

    Playwright's other methods are, even those that only look: after them the browser does not block windows.
    """
    session = page.context.new_cdp_session(page)
    answer = session.send(
        "Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
    session.detach()
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return answer["result"].get("value")


def wait_unseen(page: Page, condition: str) -> None:
    """Waits until a condition in JavaScript is true, as `look_unseen` does."""
    # A timer, because a page that another tab covers draws no frames.
    late = json.dumps(f"in {DEADLINE} ms it has not become true that {condition}")
    look_unseen(page, f"""new Promise((done, fail) => {{
        const end = performance.now() + {DEADLINE}
        const look = () => {condition} ? done() : performance.now() > end ? fail({late}) : setTimeout(look, 20)
        look()
    }})""")


def show(page: Page, address: str) -> None:
    """Goes to an address of the page, such as `#/messages`, without a reload."""
    page.evaluate("address => { location.hash = address }", address)


def screens(one, count: int) -> str:
    """What a device shows, without its caption and its notes, as soon as it shows this number of screens."""
    expect(one.get_by_role("group")).to_have_count(count)
    lines = one.aria_snapshot().splitlines()
    return "\n".join(line for line in lines if not line.startswith(("  - text:", "  - status")))


def check_access(page: Page, state: str) -> None:
    """Checks a state of the page with axe."""
    results = Axe().run(page)
    assert results.violations_count == 0, f"{state}: {results.generate_report()}"


def screenshot(page: Page, name: str) -> None:
    if SCREENSHOTS:
        page.screenshot(path=os.path.join(SCREENSHOTS, f"{name}.png"))
