"""Many tabs of one browser, and a reload in each main state."""

import re

from page import device, expect, log_in, messages, open_page, screens, screenshot, step

TABS = 8
# The names of the devices on the bus.
DEVICES = "[...document.querySelectorAll('segue-device')].map(element => element.options.device)"


def streams(page) -> str:
    text = page.evaluate("async () => (await fetch('/metrics')).text()")
    return re.search(r"^segue_page_streams (\d+)$", text, re.MULTILINE)[1]


def check_reload(page, state: str, on_ios: int, on_mac: int) -> None:
    """Reloads the page, and checks that its devices show the same. The numbers are those of the visible screens."""
    ios, mac = device(page, "Device ios"), device(page, "Device mac")
    before = screens(ios, on_ios), screens(mac, on_mac)
    page.reload()
    expect(ios).to_match_aria_snapshot(before[0])
    expect(mac).to_match_aria_snapshot(before[1])
    screenshot(page, f"tabs-reload-{state}")


def check_duplicate(page) -> None:
    """A duplicate of a tab has devices of its own; a reload keeps them."""
    names = page.evaluate(DEVICES)
    with page.context.expect_page() as opened:
        # The new tab gets a copy of what this one remembers.
        page.evaluate("void open(location.href)")
    copy = opened.value
    page.trouble.watch(copy)
    expect(device(copy, "Device ios").get_by_role("group")).to_be_visible()
    others = copy.evaluate(DEVICES)
    assert len({*names, *others}) == 4, (names, others)
    copy.reload()
    expect(device(copy, "Device ios").get_by_role("group")).to_be_visible()
    assert copy.evaluate(DEVICES) == others
    copy.close()


def check_ended_session(page, ios, mac) -> None:
    """A session that has ended begins again when a person wants it, and not because a page is open."""
    mark = step("end")
    step("publish event.SessionEnded {}")
    for one in (ios, mac):
        expect(one.get_by_text("The session has ended")).to_be_visible()
        expect(one.get_by_role("button", name="Start again")).to_be_visible()
    screenshot(page, "tabs-ended")
    page.reload()
    expect(mac.get_by_role("button", name="Start again")).to_be_visible()
    assert messages(mark, "event.LaunchFinished") == []
    ios.get_by_role("button", name="Start again").click()
    for one in (ios, mac):
        expect(one.get_by_role("heading", name="Choose a playlist")).to_be_visible()
        expect(one.get_by_role("button", name="Start again")).to_be_hidden()
    assert [message["platform"] for message in messages(mark, "event.LaunchFinished")] == ["ios"]


with open_page() as page:
    tabs = [page]
    for _ in range(TABS - 1):
        tab = page.context.new_page()
        page.trouble.watch(tab)
        tab.goto(page.url)
        tabs.append(tab)

    def all_show(heading: str) -> None:
        for tab in tabs:
            expect(tab.get_by_text("live", exact=True)).to_be_visible()
            for platform in ("ios", "mac"):
                expect(device(tab, f"Device {platform}").get_by_role("heading", name=heading)).to_be_visible()

    all_show("Choose a music service")
    assert streams(page) == "1", "each tab has a stream of its own"
    check_duplicate(page)
    check_reload(page, "service", 1, 1)

    # The consent page opens only in the tab in which it was requested.
    log_in(page)
    assert len(page.context.pages) == TABS
    all_show("Choose a playlist")
    check_reload(page, "playlists", 1, 1)

    # A choice in one tab is followed by all.
    device(tabs[-1], "Device ios").get_by_role("button", name="Deep Focus").click()
    all_show("Deep Focus")
    assert streams(page) == "1"
    for tab in tabs[1:]:
        tab.close()
    expect(device(page, "Device ios").get_by_role("button", name="Play on Spotify")).to_be_visible()
    check_reload(page, "playlist", 1, 2)

    ios, mac = device(page, "Device ios"), device(page, "Device mac")
    step("control devices action=deactivate")
    ios.get_by_role("button", name="Play on Spotify").click()
    for one in (ios, mac):
        expect(one.get_by_role("dialog", name="Activate a device")).to_contain_text("Kitchen speaker")
    check_reload(page, "sheet", 2, 3)
    ios.get_by_role("dialog").get_by_role("button", name="Kitchen speaker").click()
    for one in (ios, mac):
        expect(one.get_by_role("dialog")).to_have_count(0)

    step("control faults path=/v1/playlists/MorningPages/items&status=500&count=99")
    mac.get_by_role("button", name="Morning Pages").click()
    for one in (ios, mac):
        expect(one.get_by_role("alert")).to_contain_text("Spotify gave no usable answer")
        expect(one.get_by_role("heading", name="Morning Pages")).to_be_visible()
    check_reload(page, "banner", 1, 2)
    check_ended_session(page, ios, mac)
