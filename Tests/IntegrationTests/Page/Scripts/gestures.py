"""Gestures on the phone, the error banner, and a window that the browser blocks."""

from page import OFFER, device, drag, expect, log_in, messages, open_page, screenshot, step, wait_unseen

SHOP = "https://shop.example/offer"


def names(commands: list) -> list:
    return [command["type"].removeprefix("command.") for command in commands]


def resize_column(page, mac) -> None:
    """Resizes the list of the mac by pointer and by keyboard. The focus stays when the device is drawn again."""
    separator = mac.get_by_role("separator", name="Width of the column")
    first = separator.get_attribute("aria-valuenow")
    with drag(page, separator, (0.5, 0.5)) as move:
        move(80, 0)
    expect(separator).not_to_have_attribute("aria-valuenow", first)
    dragged = separator.get_attribute("aria-valuenow")
    separator.focus()
    page.keyboard.press("ArrowLeft")
    expect(separator).not_to_have_attribute("aria-valuenow", dragged)
    assert int(first) < int(separator.get_attribute("aria-valuenow")) < int(dragged)
    step("publish command.PlaylistSelected {\"playlistID\":\"EndlessFocus\"}")
    expect(mac.get_by_role("heading", name="Endless Focus")).to_be_visible()
    expect(separator).to_be_focused()


def choose_at_once(page, ios) -> None:
    """Taps a row of the list that comes back, before the coordinator knows that it does."""
    ios.get_by_role("button", name="Deep Focus").click()
    expect(ios.get_by_role("button", name="Play on Spotify")).to_be_visible()

    def tap(route):
        if route.request.post_data_json.get("back") == "completed":
            ios.get_by_role("button", name="Code Flow").evaluate("row => row.click()")
        route.fallback()

    pattern = "**/api/stream/*/device/*"
    page.route(pattern, tap)
    ios.get_by_role("button", name="Back").click()
    expect(ios.get_by_role("heading", name="Code Flow")).to_be_visible()
    page.unroute(pattern)
    ios.get_by_role("button", name="Back").click()


with open_page() as page:
    ios, mac = device(page, "Device ios"), device(page, "Device mac")
    expect(ios.get_by_role("heading", name="Choose a music service")).to_be_visible()
    expect(mac.get_by_role("heading", name="Choose a music service")).to_be_visible()

    # A window that nobody asked for. A click, and what a test does, counts as an action until the reload.
    page.reload()
    wait_unseen(page, "document.querySelectorAll('segue-device h2').length === 2")
    page.context.route(SHOP, lambda route: route.fulfill(content_type="text/html", body="<title>Shop</title>"))
    step(f'publish command.OpenAnotherAppRequested {{"url":"{SHOP}"}}')
    wait_unseen(page, f"document.querySelectorAll('a[href=\"{SHOP}\"]').length === 2")
    for one in (ios, mac):
        expect(one.get_by_role("link", name="Open shop.example")).to_have_attribute("href", SHOP)
    assert len(page.context.pages) == 1, "the browser has not blocked the window"
    screenshot(page, "gestures-1-blocked-window")
    with page.context.expect_page() as opened:
        ios.get_by_role("link", name="Open shop.example").click()
    opened.value.wait_for_url(SHOP)
    opened.value.close()
    expect(ios.get_by_role("link", name="Open shop.example")).to_be_hidden()
    # A reload does not request it again.
    page.reload()
    expect(mac.get_by_role("heading", name="Choose a music service")).to_be_visible()
    expect(page.get_by_role("link", name="Open shop.example")).to_have_count(0)

    def connect_slowly() -> None:
        """The service answers after the time for which the browser lets a page open a tab."""
        step("freeze auth-service")
        ios.get_by_role("button", name="Connect Spotify").click()
        wait_unseen(page, "!navigator.userActivation.isActive")
        step("thaw auth-service")
        wait_unseen(page, f"document.querySelector('{OFFER}') !== null")

    log_in(page, connect_slowly)

    # A back swipe: cancelled first, because the finger returns, then completed.
    ios.get_by_role("button", name="Deep Focus").click()
    playlist = ios.get_by_role("group", name="Deep Focus")
    playlists = ios.get_by_role("group", name="Choose a playlist")
    expect(ios.get_by_role("button", name="Play on Spotify")).to_be_visible()
    expect(playlists).to_be_hidden()
    mark = step("end")
    with drag(page, playlist, (8, 0.5)) as move:
        move(150, 0)
        expect(playlists).to_be_visible()
        screenshot(page, "gestures-2-swipe")
        # Slowly and to the edge, so that it is no flick.
        move(20, 0)
    expect(playlists).to_be_hidden()
    expect(playlist).to_be_visible()
    with drag(page, playlist, (8, 0.5)) as move:
        move(300, 0)
        expect(playlists).to_be_visible()
    expect(playlist).to_have_count(0)
    expect(playlists).to_be_visible()
    # The page removes the screen before its report is recorded.
    step(f"await {mark} command.BackCompleted")
    swipes = messages(mark, "command.Back")
    assert names(swipes) == ["BackStarted", "BackCancelled", "BackStarted", "BackCompleted"], swipes
    assert len({swipe["data"]["instance"] for swipe in swipes}) == 1, swipes
    assert {swipe["platform"] for swipe in swipes} == {"ios"}, swipes

    choose_at_once(page, ios)
    resize_column(page, mac)
    ios.get_by_role("button", name="Back").click()

    # The sheet on which a person chooses a device is dragged down by its grabber.
    step("control devices action=deactivate")
    ios.get_by_role("button", name="Deep Focus").click()
    ios.get_by_role("button", name="Play on Spotify").click()
    sheet = ios.get_by_role("dialog", name="Activate a device")
    expect(sheet.get_by_role("button", name="Kitchen speaker")).to_be_visible()
    expect(mac.get_by_role("dialog", name="Activate a device")).to_be_visible()
    # The screens below can be seen, and keep their buttons.
    for one in (ios, mac):
        expect(one.locator(".action", has_text="Play on Spotify")).to_be_visible()
    screenshot(page, "gestures-3-sheet")
    mark = step("end")
    with drag(page, sheet.get_by_role("slider", name="Height of the sheet"), (0.5, 0.5)) as move:
        move(0, 60)
        move(0, 400)
    expect(sheet).to_have_count(0)
    expect(ios.get_by_role("button", name="Play on Spotify")).to_be_enabled()
    # The popover of the mac is another presentation, and stays.
    expect(mac.get_by_role("dialog", name="Activate a device")).to_be_visible()
    # The button can be pressed only when the scene has followed, so the report is recorded.
    ios.get_by_role("button", name="Play on Spotify").click()
    expect(sheet).to_be_visible()
    dismissals = messages(mark, "command.PresentationDismissed")
    assert [dismissal["platform"] for dismissal in dismissals] == ["ios"], dismissals
    # Choosing a device closes it on both.
    sheet.get_by_role("button", name="Kitchen speaker").click()
    for one in (ios, mac):
        expect(one.get_by_role("dialog")).to_have_count(0)

    # An error is shown above the screens, until its button is pressed on one of the devices.
    step("control faults path=/v1/playlists/MorningPages/items&status=500&count=99")
    ios.get_by_role("button", name="Back").click()
    ios.get_by_role("button", name="Morning Pages").click()
    for one in (ios, mac):
        expect(one.get_by_role("alert")).to_contain_text("Spotify gave no usable answer")
        expect(one.get_by_role("heading", name="Morning Pages")).to_be_visible()
    screenshot(page, "gestures-4-banner")
    mark = step("end")
    ios.get_by_role("button", name="Dismiss the error").click()
    for one in (ios, mac):
        expect(one.get_by_role("button", name="Dismiss the error")).to_have_count(0)
        expect(one.get_by_role("alert")).to_have_text("")
    assert names(messages(mark, "command.")).count("ErrorDismissed") == 1
