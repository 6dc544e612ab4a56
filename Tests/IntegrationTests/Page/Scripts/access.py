"""Every screen of the story and every part of the inspector: with axe, by keyboard, and for screen readers."""

import json
import re

from page import check_access, device, expect, open_page, open_tab, screenshot, show, step

WIDE, SMALL = {"width": 1600, "height": 1000}, {"width": 390, "height": 844}


def check_everywhere(page, state: str) -> None:
    """Checks a state in light and dark, wide and small. The small page shows either a device or the inspector."""
    for size in (SMALL, WIDE):
        page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            check_access(page, f"{state}, {size['width']} px, {scheme}")
        screenshot(page, f"access-{state}-{size['width']}")
    page.emulate_media(color_scheme="light", reduced_motion="reduce")


# The control with the focus: its name for messages, and whether a person sees where the focus is.
FOCUSED = """() => {
    const element = document.activeElement
    if (!element || element === document.body) return null
    const box = element.getBoundingClientRect()
    // The node of a tree contains the nodes below it, so its own line is marked.
    const marked = element.role === 'treeitem' ? element.firstElementChild : element
    const style = getComputedStyle(marked)
    const isMarked = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0
    const isInView = box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0
        && box.top < innerHeight && box.left < innerWidth
    element.dataset.reached = ''
    return { name: `${element.tagName} ${element.id} ${element.getAttribute('aria-label') ?? element.textContent}`
        .slice(0, 120), isMarked, isInView }
}"""

# The controls that can be seen and used, but that Tab has not reached. Controls with tabindex -1 are in a group in
# which the arrow keys move. Of radio buttons, Tab reaches one.
MISSED = """() => [...document.querySelectorAll('button, a[href], input, select, textarea, [tabindex="0"]')]
    .filter(element => element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]')
        && !element.disabled && element.tabIndex >= 0 && !('reached' in element.dataset))
    .map(element => element.outerHTML.slice(0, 160))"""


def check_keyboard(page, state: str) -> None:
    """Presses Tab through the whole page: the focus can be seen, and everything that can be used is reached."""
    page.evaluate("""() => {
        document.querySelectorAll('[data-reached]').forEach(element => delete element.dataset.reached)
        document.activeElement?.blur()
        document.body.tabIndex = -1
        document.body.focus()
        document.body.removeAttribute('tabindex')
    }""")
    for _ in range(300):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        # At the end, the focus leaves the page for the bars of the browser.
        if found is None:
            break
        assert found["isMarked"], f"{state}: the focus cannot be seen on {found['name']}"
        assert found["isInView"], f"{state}: {found['name']} has the focus outside the view"
    else:
        raise AssertionError(f"{state}: Tab does not leave the page")
    missed = page.evaluate(MISSED)
    assert not missed, f"{state}: Tab does not reach {missed}"


def tab_to(page, target) -> None:
    """Presses Tab until a control has the focus."""
    for _ in range(300):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"Tab does not reach {target}")


def check_screens(page, ios, mac) -> None:
    """The story, by keyboard alone."""
    connect = ios.get_by_role("button", name="Connect Spotify")
    expect(connect).to_be_visible()
    check_everywhere(page, "service")
    check_keyboard(page, "service")
    tab_to(page, connect)
    consent = open_tab(page, lambda: page.keyboard.press("Enter"))
    tab_to(consent, consent.get_by_role("button", name="Agree"))
    consent.keyboard.press("Enter")
    calm = ios.get_by_role("button", name="Calm")
    expect(calm).to_be_visible()
    consent.close()
    page.bring_to_front()
    expect(mac.get_by_role("button", name="Calm")).to_be_visible()
    check_everywhere(page, "playlists")

    tab_to(page, calm)
    page.keyboard.press("Enter")
    play = ios.get_by_role("button", name="Play on Spotify")
    expect(play).to_be_visible()
    # The focus is on the new screen: its heading is read.
    expect(ios.get_by_role("heading", name="Calm")).to_be_focused()
    check_everywhere(page, "playlist")
    tab_to(page, ios.get_by_role("button", name="Back"))
    page.keyboard.press("Enter")
    # Back on the list, the focus is where it was.
    expect(calm).to_be_focused()
    # The row can be chosen again when the coordinator has answered.
    expect(calm).to_be_enabled()
    page.keyboard.press("Enter")
    expect(play).to_be_visible()

    # While the songs are being fetched.
    step('publish document.GeneratedPlaylist {"playlistID":"NordicCalm","status":"loading","total":0,"songs":[]}')
    expect(ios.get_by_text("Shuffling…")).to_be_visible()
    check_everywhere(page, "loading")
    song = {"id": "1", "uri": "spotify:track:1", "title": "One", "artist": "Two", "duration": 61000}
    ready = {"playlistID": "NordicCalm", "status": "ready", "total": 1, "songs": [song]}
    step(f"publish document.GeneratedPlaylist {json.dumps(ready)}")
    expect(play).to_be_visible()


def check_presentations(page, ios, mac) -> None:
    play = ios.get_by_role("button", name="Play on Spotify")
    step("control devices action=deactivate")
    tab_to(page, play)
    page.keyboard.press("Enter")
    sheet = ios.get_by_role("dialog")
    expect(sheet.get_by_role("heading")).to_be_focused()
    check_everywhere(page, "sheet")
    check_keyboard(page, "sheet")
    tab_to(page, sheet.get_by_role("slider", name="Height of the sheet"))
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)

    # An alert is read: it takes the focus where the person is, and is announced on the other device.
    step("control devices action=all")
    step("control premium premium=off")
    said = listen(page, mac)
    tab_to(page, play)
    page.keyboard.press("Enter")
    alert = ios.get_by_role("alertdialog", name="Spotify Premium required")
    expect(alert.get_by_role("button").first).to_be_visible()
    expect(alert.locator(":focus")).to_have_count(1)
    expect_heard(page, said, "Spotify Premium required")
    check_everywhere(page, "alert")
    check_keyboard(page, "alert")
    tab_to(page, alert.get_by_role("button", name="Cancel"))
    page.keyboard.press("Enter")
    expect(alert).to_have_count(0)


def listen(page, one):
    """Collects what a screen reader says: the texts that appear in the live regions of a device.

    The regions have to be in the document before: one that comes together with its text is often not read.
    """
    return one.evaluate_handle("""device => {
        const said = []
        for (const region of device.querySelectorAll('[role=alert], [role=status]')) {
            new MutationObserver(changes => {
                for (const node of changes.flatMap(change => [...change.addedNodes])) said.push(node.textContent)
            }).observe(region, { childList: true, subtree: true, characterData: true })
        }
        return said
    }""")


def expect_heard(page, said, text: str) -> None:
    page.wait_for_function("([said, text]) => said.some(line => line.includes(text))", arg=[said, text])


def check_banner(page, ios, mac) -> None:
    heard = [listen(page, one) for one in (ios, mac)]
    error = {"code": "x.y", "message": "The player does not answer.", "recovery": "Try again.", "severity": "error"}
    step(f'publish document.ErrorBanner {json.dumps({"errorID": "e1", "error": error, "waiting": 2})}')
    for said in heard:
        expect_heard(page, said, "The player does not answer.")
    expect(ios.get_by_role("alert")).to_contain_text("error: The player does not answer.")
    check_everywhere(page, "banner")
    check_keyboard(page, "banner")
    step('publish document.ErrorBanner {"waiting":0}')
    expect(ios.get_by_role("alert")).to_be_empty()


def check_inspector(page) -> None:
    # The list was hidden and shown again with each change of the width, and still follows the newest message.
    expect(page.get_by_role("button", name="↓")).to_be_hidden()
    happenings = page.get_by_role("grid", name="Happenings")
    expect(happenings.get_by_role("row").first).to_be_visible()
    check_everywhere(page, "happenings, devices")
    show(page, "#/happenings")
    check_everywhere(page, "happenings")
    check_keyboard(page, "happenings")
    # The switch keeps the focus; with the arrow keys to a happening, and with Enter into its messages.
    switch = page.get_by_role("group", name="List")
    switch.get_by_role("button", name="Messages").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("grid", name="Messages")).to_be_visible()
    expect(switch.get_by_role("button", name="Messages")).to_be_focused()
    switch.get_by_role("button", name="Happenings").click()
    happenings.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#/(message|story)/"))
    page.go_back()

    show(page, "#/messages")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.get_by_label("Condition")).to_be_visible()
    check_everywhere(page, "messages")
    check_keyboard(page, "messages")
    page.get_by_role("button", name="Filter", exact=True).click()

    # With the arrow keys to a message, and with Enter into it.
    page.get_by_role("grid", name="Messages").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    message = page.get_by_role("region", name="Message", exact=True)
    expect(message.get_by_role("tree", name="Attributes")).to_be_visible()
    check_everywhere(page, "message")
    check_keyboard(page, "message")
    message.get_by_role("link", name="Story").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Critical path")).to_be_visible()
    check_everywhere(page, "story")
    check_keyboard(page, "story")

    show(page, "#/messages")
    page.get_by_role("button", name="New message").click()
    page.get_by_label("Type", exact=True).fill("command.PlaylistSelected")
    expect(page.get_by_label("playlistID")).to_be_visible()
    check_everywhere(page, "form")
    check_keyboard(page, "form")

    # Malformed, so that a dead letter is listed.
    step('publish command.PlaylistSelected {"playlist":1}')
    show(page, "#/processes")
    expect(page.get_by_role("button", name="Resend PlaylistSelected")).to_be_visible()
    page.get_by_role("button", name="Drop PlaylistSelected…").click()
    check_everywhere(page, "processes")
    check_keyboard(page, "processes")


# Nothing moves for a person who has asked for that; what appears may fade.
RECORD_MOTION = """() => {
    window.moved = []
    const animate = Element.prototype.animate
    Element.prototype.animate = function (frames, options) {
        if (JSON.stringify(frames).includes('transform')) window.moved.push(this.className)
        return animate.call(this, frames, options)
    }
}"""

# The page remembers devices that have been launched before, so they do not report a launch: the first screen stays.
LAUNCHED_BEFORE = f"""sessionStorage.setItem('segue.devices', '{json.dumps({"isDefault": False, "devices": [
    {"platform": platform, "session": "default", "device": f"web-{platform}", "resumed": True}
    for platform in ("ios", "mac")]})}')"""
AS_WANTED = {"viewport": WIDE, "reduced_motion": "reduce", "color_scheme": "light"}

with open_page(before=LAUNCHED_BEFORE, **AS_WANTED) as page:
    for platform in ("ios", "mac"):
        expect(device(page, f"Device {platform}").get_by_role("group")).to_be_visible()
    check_everywhere(page, "launch")
    check_keyboard(page, "launch")

with open_page(**AS_WANTED) as page:
    page.evaluate(RECORD_MOTION)
    ios, mac = device(page, "Device ios"), device(page, "Device mac")
    check_screens(page, ios, mac)
    check_presentations(page, ios, mac)
    check_banner(page, ios, mac)
    check_inspector(page)
    moved = page.evaluate("[...new Set(window.moved)]")
    assert not moved, f"moved: {moved}"
